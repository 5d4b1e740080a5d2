"""The truth: robots, kinematics, solvers, fixed point, the graph and its bit-true interpreter."""
