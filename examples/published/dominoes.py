"""A row of dominoes, hinged at their lower edges, that topples: the speed of the wave. Assumptions of van Leeuwen 2010.

    python examples/published/dominoes.py

Impacts are plastic, and what has struck goes on leaning on what it has struck. Here boxes touch over areas, with a foundation that
is stiff, and damped so that hardly anything rebounds. The published speeds are those of the rigid row, recomputed.
"""

import numpy as np

import nexdyn as nx

PUBLISHED = (0.303968308891, 0.506485265418, 0.693067588426, 0.843514745960)  # of the wave [m/s]
height, thick, wide, pitch, count = 0.048, 0.006, 0.024, 0.024, 6

system = nx.System("dominoes")
for i in range(count):
    edge = pitch * i
    box = {"position": (edge - 0.5 * thick, 0, 0.5 * height), "shapes": [nx.Box((thick, wide, height))]}
    domino = system.add_body(f"domino{i}", mass=0.01, **box)
    push = 0.0 if i else 4.0  # the first one is given an angular velocity [rad/s]
    system.add_joint(nx.Revolute(f"hinge{i}", system.ground, domino, at=(edge, 0, 0), axis=(0, 1, 0), v0=push))
system.add_contact(nx.Contact("floor", "domino*", stiffness=1e6, exponent=1.0, damping=20.0, friction=0.0))
for i in range(count - 1):
    layer = {"foundation_b": 1e9, "damping": 20.0, "friction": 0.0}
    system.add_contact(nx.Contact(f"strike{i}", f"domino{i}", f"domino{i + 1}", **layer))
    system.add_event(nx.Event(f"struck{i + 1}", contact=f"strike{i}", direction="falling", once=True))

result = nx.simulate(system, 0.3, nx.HHT(dt=4e-4))
when = {event["name"]: event["time"] for event in result.events}
struck = [when[f"struck{i}"] for i in range(1, count)]
for i, (x, y) in enumerate(zip(pitch / np.diff(struck), PUBLISHED, strict=True)):
    print(f"wave from domino {i + 2} to {i + 3} [m/s]  {x:.10f}  published  {y:.10f}  error {abs(x - y):.1e}")
energy = result.energy()["total"]
print(f"the impacts take {1e3 * float(energy[0] - energy[-1]):.3f} mJ of {1e3 * float(energy[0]):.3f} mJ")
