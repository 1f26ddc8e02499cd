"""The kubelet's place in a rehearsal: runs the containers of pods as processes of this machine.

One process per cluster (__main__.py) watches nodes, pods and Services (cluster.py). Each pod has a task that follows
the pod's life (pod.py), each run of a container a shim of its own (shim.py) that outlives the agent, so that an agent
that was killed finds its containers again.
"""
