"""Entry of the policy pack: `pulumi preview --policy-pack policies`."""

import sys
from pathlib import Path

# Pulumi runs this file by its path, wherever the pack lies; its own packages are beside the folder.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policies.pack import serve

serve()
