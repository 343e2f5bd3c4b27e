"""Interventions on the states that a trained encoder computes: where (addresses) and how (one module each)."""
