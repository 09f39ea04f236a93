"""Where each fault was seen in public. A fault that is not listed is the course's own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """A public document, by its title and address."""

    title: str
    url: str


def _github(thread: str, title: str) -> Source:
    repository, _, number = thread.partition("#")
    return Source(f"{thread}: {title}", f"https://github.com/{repository}/issues/{number}")


SOURCES = {
    "no-scale": _github("PAIR-code/tiny-transformers#71", "Fix scaling in attention computation"),
    "scale-by-d-k": _github("delzac/cntkx#10", "ScaledDotProductAttention doesn't apply C.sqrt?"),
    "scale-by-sqrt-d-v": _github("juho-lee/set_transformer#18", "Question about the normalization in the attention"),
    "scale-multiplied": _github("esceptico/perceiver-io#9", "Bug in MultiHeadAttention"),
    "bias-scaled-too": _github("NVIDIA/OpenSeq2Seq#76", "fix in attention: bias after sqrt_normalize"),
    "key-not-transposed": _github("pytorch/pytorch#195320", "SDPA fusion matches a permuted K"),
    "half-precision-scores": _github("pytorch/pytorch#60939", "multi_head_attention_forward softmax get nan for fp16"),
    "heads-tiled": _github("onnx/onnx#7274", "Update attention gqa to use repeat interleave"),
    "mask-after-softmax": _github("huggingface/pytorch-image-models#2236", "fixed bug in applying attention mask"),
    "mask-ignored": _github("keras-team/keras#23038", "MultiHeadAttention silently drops the causal mask"),
    "mask-inverted": _github("rasbt/LLMs-from-scratch#1061", "PyTorch's scaled dot product attention: mask inverted"),
    "mask-transposed": _github("hyunwoongko/transformer#40", "fix(model): attention pad mask"),
    "causal-without-self": _github("pytorch/pytorch#143287", "Masked self-attention when each token masks itself"),
    "causal-from-other-corner": _github("pytorch/pytorch#108108", "Change default causal masking alignment"),
    "window-by-total-width": _github("huggingface/transformers#39408", "Off-by-one error with a sliding window"),
    "mask-multiplied": _github("georg-wolflein/good-features#1", "Improve masked attention"),
    "mask-added": _github("HKUSTDial/flash-sparse-attention#146", "Attention mask in example is incorrect"),
    "softcap-after-mask": _github("onnx/onnx#7865", "Softcap in Attention op"),
    "finite-sentinel": _github("huggingface/transformers#17306", "Fix -1e4 as attn mask"),
    "empty-row-unnoticed": _github("pytorch/pytorch#103963", "nans with boolean attn_mask with zero rows"),
    "no-max-shift": _github("NVIDIA/FasterTransformer#43", "fastertransformer nan error"),
    "max-over-forbidden": _github("Dao-AILab/flash-attention#2082", "incorrect row max resulting in zeroed heads"),
    "softmax-over-queries": _github(
        "labmlai/annotated_deep_learning_paper_implementations#146", "Bug in SA for DDPM UNet?"
    ),
    "softmax-twice": _github("zyy-2001/DisKT#6", "There are logical errors in contradictory attention"),
    "base-two-exponential": _github("jax-ml/jax#25984", "Replace exp2 with exp"),
    "stream-without-rescale": _github("Dao-AILab/flash-attention#991", "Error in Algorithm 1 of Flash Attention 2"),
    "stream-sum-without-rescale": Source(
        "M. Milakov and N. Gimelshein, Online normalizer calculation for softmax, 2018",
        "https://arxiv.org/abs/1805.02867",
    ),
    "weights-transposed": _github("heykeetae/Self-Attention-GAN#11", "Is this a writing error: attention.permute?"),
    "forbidden-values-multiplied": _github("pytorch/pytorch#101967", "NaN when input has NaN in masked-out positions"),
}
