"""A body without torque that spins about its middle axis turns over, again and again (Dzhanibekov). Landau & Lifshitz § 37.

    python examples/published/tumbling_body.py

The motion is known in closed form, by Jacobi's elliptic functions; the last lines set it beside ten such turns.
"""

import numpy as np
from scipy.special import ellipj

import nexdyn as nx

PUBLISHED = (0.976782616339, 0.214466128838, -0.563916152036)  # ω in the axes of the body after 10 s [rad/s]
HALF = 20.7546097648  # from one turn over to the next [s]

system = nx.System("tumbling body", gravity=(0, 0, 0))
body = system.add_body("body", mass=1.0, inertia=(1, 2, 3))
# A free joint's velocity is (ω, v) in the axes of the body, which is what is published.
system.add_joint(nx.Free("free", system.ground, body, v0=(0.01, 1, 0, 0, 0, 0)))
system.add_event(nx.Event("over", joint="free", of="velocity", freedom=1))  # where ω₂ changes its sign

precise = nx.DormandPrince(rtol=1e-12, atol=1e-13)
ten = nx.simulate(system, 10.0, precise).joint_velocity("free")[-1].values[:3]
for i, (x, y) in enumerate(zip(ten, PUBLISHED, strict=True)):
    print(f"ω{i + 1}(10 s)  {x:.12f}  published  {y:.12f}  error {abs(x - y):.1e}")

result = nx.simulate(system, 10.5 * HALF, precise)
over = np.diff([event["time"] for event in result.events])
print(f"turns over every  {over.mean():.10f}  published  {HALF:.10f}  error {abs(over - HALF).max():.1e}")

# The whole motion: u = τ t + K, ω = (1.00004999875 dn u, sn u, 0.57735026919 cn u), parameter m
t = result.t.values
sn, cn, dn, _ = ellipj(0.577379135881 * t + 5.99163932678, 0.999900009999)
closed = np.stack([1.00004999875 * dn, sn, 0.57735026919 * cn], axis=1)
print(f"largest error in {t[-1]:.0f} s: {np.abs(result.joint_velocity('free').values[:, :3] - closed).max():.1e} rad/s")
