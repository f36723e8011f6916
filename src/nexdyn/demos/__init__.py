"""Scenes that come with the package: ``nexdyn run hinge-chain``, ``nx.load("double-pendulum")``."""
