"""Planar mechanisms with a mistake that tests have to find."""

import dataclasses

import numpy as np

from solver_ref.dynamics.planar_system import PlanarSystem


class WithoutTranslation(PlanarSystem):
    """The known mistake: a mass matrix in which passive arms turn but are not carried along."""

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        mechanism, matrix = self.mechanism, super().mass_matrix(q)
        still = dataclasses.replace(
            mechanism, passive=dataclasses.replace(mechanism.passive, mass=0.0)
        )
        matrix[..., 3:6, :] = PlanarSystem(still).mass_matrix(q)[..., 3:6, :]
        matrix[..., 6:, :] = PlanarSystem(still).mass_matrix(q)[..., 6:, :]
        return matrix
