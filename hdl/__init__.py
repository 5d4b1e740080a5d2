"""Hardware: operators, scheduling, binding, the emitter and the stream shells, in Amaranth."""
