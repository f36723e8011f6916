"""Is it right? A published problem beside its published value, under several formulations, and the order of a method.

python examples/09_published_problem.py
"""

import nexdyn as nx
from nexdyn.problems.bricard import A04, bricard

# Bricard's mechanism: five rods, six hinges. Counting says that it cannot move; one constraint is redundant, and it does.
report = nx.assemble(bricard())
print(f"degrees of freedom counted: {report.redundancy.grubler}, found: {report.redundancy.dof}")

# Every formulation that carries it, beside the value of the IFToMM library. `nexdyn verify` does so for all problems.
print(nx.verify(["A04"]))

# The error of HHT against the published place of P3 at 1 s falls four-fold with each halving of the step: order 2.
errors = []
for dt in (4e-3, 2e-3, 1e-3):
    result = nx.simulate(bricard(), 1.0, nx.HHT(dt=dt), output_times=[1.0])
    errors.append(abs(result.position("P3")[-1].values - A04.reference[1.0]).max())
    print(f"dt = {dt:g} s: error {errors[-1]:.1e} m")
print(f"the last two errors have the ratio {errors[-2] / errors[-1]:.2f}")
