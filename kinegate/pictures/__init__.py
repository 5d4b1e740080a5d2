"""Pictures of robots, by matplotlib without a display: at a pose, along a trajectory, as a film."""
