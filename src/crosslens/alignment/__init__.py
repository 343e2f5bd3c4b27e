"""Encoders that never met, brought into one space by a rotation (Conneau, Wu et al. 2020, section 5)."""
