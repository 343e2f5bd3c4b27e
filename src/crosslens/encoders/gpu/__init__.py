"""Compute on a GPU: kernels of attention and LSTMs, and CUDA graphs of the passes of training."""
