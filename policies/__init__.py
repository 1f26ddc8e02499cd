"""The policy pack: what an environment may not do, judged by the resources that are about to be made.

It needs nothing of the program it judges: any Pulumi program's resources are held to the same rules.
"""
