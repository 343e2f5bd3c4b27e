"""Aligning independently pretrained encoders by an orthogonal mapping (Conneau, Wu et al. 2020, section 5)."""
