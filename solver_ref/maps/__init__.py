"""Maps of a workspace: reach, conditioning, singularity, feasible tensions, iterations."""
