"""Named parameters: one description, many mechanisms. How long must a clock's pendulum be, and what does its bob weigh in?

python examples/06_parameters.py
"""

import numpy as np

import nexdyn as nx

system = nx.System("clock", gravity=(0, 0, -9.81))
L = system.parameter("L", 1.0)  # length of the rod [m]
m = system.parameter("m", 0.2)  # its mass [kg]
system.parameter("bob", 1.0)  # mass of the bob [kg]

# Any number may be an expression of parameters, as an object or as text.
rod = system.add_body("rod", mass=m, com=(0, 0, -0.5 * L), inertia=("=m*L**2/12", "=m*L**2/12", 0))
bob = system.add_body("bob", mass="=bob", position=(0, 0, "=-L"))
system.add_joint(nx.Revolute("pin", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), q0=0.05))
system.add_joint(nx.Fixed("rivet", rod, bob))


def period(system: nx.System) -> float:
    """Time between two passages through the middle in the same direction [s], on the dense output of the run."""
    times = np.linspace(0.0, 10.0, 10001)
    result = nx.simulate(system, t_end=10.0, method=nx.DormandPrince(rtol=1e-9), output_times=times)
    angle = result.joint_position("pin").values
    before = np.flatnonzero((angle[:-1] > 0.0) & (angle[1:] <= 0.0))
    crossings = times[before] + 1e-3 * angle[before] / (angle[before] - angle[before + 1])
    return float(np.diff(crossings)[0])


# with_parameters gives another system and leaves this one as it is; attributes go by "element.attribute".
print("length [m]   period [s]")
lengths = np.array([0.8, 0.9, 1.0, 1.1, 1.2])
periods = [period(system.with_parameters({"L": length})) for length in lengths]
for length, T in zip(lengths, periods, strict=True):
    print(f"{length:10.2f}{T:13.5f}")
print(f"two seconds take {np.interp(2.0, periods, lengths):.4f} m\n")

print("bob [kg]     period [s]")
for mass in (0.5, 1.0, 2.0):
    print(f"{mass:8.2f}{period(system.with_parameters({'bob': mass})):15.5f}")

damped = system.with_parameters({"pin.damping": 0.05, "gravity": (0, 0, -1.62)})
print(f"\non the Moon, with a rusty pin: {period(damped):.5f} s")
print("as described, still:", system.values, f"{period(system):.5f} s")
