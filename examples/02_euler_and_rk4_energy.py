"""What a method of integration does to energy: explicit Euler gains it, semi-implicit Euler keeps it near, RK4 keeps it.

A pendulum swings for ten seconds without friction. Its energy should not change; whatever changes is the method's.

    python examples/02_euler_and_rk4_energy.py
"""

import nexdyn as nx

system = nx.System("pendulum", gravity=(0, 0, -9.81))
system.add_body("bob", mass=1.0, position=(1, 0, 0))
system.add_joint(nx.Revolute("pin", system.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0)))


def energies(method) -> tuple[float, float]:
    """Gain at the end and largest deviation [J] of the total energy over ten seconds."""
    total = nx.simulate(system, t_end=10.0, method=method).energy()["total"]
    change = total - total[0]
    return float(change[-1]), float(abs(change).max())


print("energy of a pendulum of 1 kg and 1 m after 10 s, released horizontal (9.81 J are on the move)\n")
print(f"{'method':<22}{'step':>8}{'gained [J]':>16}{'largest change [J]':>22}")
for method in (nx.ExplicitEuler, nx.SemiImplicitEuler, nx.RungeKutta4):
    for dt in (1e-2, 1e-3):
        gained, largest = energies(method(dt))
        print(f"{method.__name__:<22}{dt:>8g}{gained:>16.3e}{largest:>22.3e}")

gained, largest = energies(nx.DormandPrince(rtol=1e-8))
print(f"{'DormandPrince':<22}{'adapts':>8}{gained:>16.3e}{largest:>22.3e}")

print(
    """
Explicit Euler gains energy at every step, in proportion to the step: ten times smaller steps gain ten times less.
Semi-implicit Euler costs the same and errs to both sides: over any time the change stays as small as one step makes it.
RK4 takes four evaluations a step; ten times smaller steps make its error ten thousand times smaller, or more.
Dormand-Prince chooses its steps for the error that it is allowed."""
)
