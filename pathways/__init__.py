"""What a Pathways deployment is: settings in, plain data out. No Pulumi, no network, no clock."""
