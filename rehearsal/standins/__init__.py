"""What runs in a rehearsal in place of the Pathways servers, whose images run on TPU VMs only.

One program, two names: /pathways/server (resource manager or worker) and /pathways/proxy_server.
"""
