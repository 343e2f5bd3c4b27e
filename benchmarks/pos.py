"""POS tagging against a plain `transformers.Trainer` script on the same files: both sides of each ratio from one run.

    python benchmarks/pos.py ENCODER TRAIN.conllu TEST.conllu...
    python benchmarks/pos.py ENCODER TRAIN.conllu TEST.conllu... --precision bfloat16    (beside Trainer in float32)

Sentences per CPU second of training (one epoch, batches of 16) and of zero-shot evaluation (predicting and scoring),
tokenisation included on both sides. CPU seconds, not wall seconds, so that other work on the machine matters less; one
thread. The two sides take turns, and the median of the turns is printed.
"""

import argparse
import os
import statistics
import tempfile
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import numpy as np
import torch
import transformers
from ratios import PER_SECOND, note, product_rate, products, row, seconds
from transformers import (
    AutoModelForTokenClassification,
    AutoTokenizer,
    DataCollatorForTokenClassification,
    Trainer,
    TrainingArguments,
)

from crosslens import Recipe, evaluate, finetune, load_corpus, load_encoder
from crosslens.encoders.inputs import read_windows

warnings.filterwarnings("ignore")
transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
BATCH, RATE = 16, 1e-4


class Plain:
    """The script everyone writes: tokenise with word_ids, label first pieces, Trainer.train, Trainer.predict."""

    def __init__(self, name, train):
        self.name = name
        self.labels = sorted({tag for sentence in train for tag in sentence.upos})
        self.tokenizer = AutoTokenizer.from_pretrained(name)

    def dataset(self, sentences):
        number = {label: i for i, label in enumerate(self.labels)}
        rows = []
        for sentence in sentences:
            read = self.tokenizer(list(sentence.words), is_split_into_words=True, truncation=True, max_length=512)
            labels, before = [], None
            for word in read.word_ids():
                labels.append(-100 if word is None or word == before else number.get(sentence.upos[word], -100))
                before = word
            rows.append({"input_ids": read["input_ids"], "attention_mask": read["attention_mask"], "labels": labels})
        return rows

    def trainer(self, folder, data=None, *, batch=BATCH, device="cpu", precision="float32"):
        model = AutoModelForTokenClassification.from_pretrained(self.name, num_labels=len(self.labels))
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=batch,
            per_device_eval_batch_size=batch,
            num_train_epochs=1,
            learning_rate=RATE,
            report_to=[],
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
            use_cpu=device == "cpu",
            bf16=precision == "bfloat16",
        )
        return Trainer(
            model=model,
            args=arguments,
            train_dataset=data,
            data_collator=DataCollatorForTokenClassification(self.tokenizer),
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder")
    parser.add_argument("train")
    parser.add_argument("test", nargs="+")
    parser.add_argument("--train-sentences", type=int, default=600)
    parser.add_argument("--test-sentences", type=int, default=900, help="of all test files together")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    train = load_corpus(chosen.train)[: chosen.train_sentences]
    each = chosen.test_sentences // len(chosen.test)
    tests = [load_corpus(path)[:each] for path in chosen.test]
    evaluated = sum(map(len, tests))
    encoder = load_encoder(chosen.encoder, device="cpu")
    recipe = Recipe(batch=BATCH, learning_rate=RATE, epochs=1, select="last", precision=chosen.precision)
    plain = Plain(chosen.encoder, train.sentences)

    ours, its = {"training": [], "evaluation": []}, {"training": [], "evaluation": []}
    accuracies = {}

    def turn():
        took, model = seconds(lambda: finetune(encoder, "pos", train=train, recipe=recipe, seed=1))
        ours["training"].append(len(train) / took)
        took, results = seconds(lambda: evaluate(model, tests))
        ours["evaluation"].append(evaluated / took)
        table = results.to_pandas()
        accuracies["crosslens"] = float(np.average(table["value"], weights=table["n"]))
        with tempfile.TemporaryDirectory() as folder:
            bare = plain.trainer(folder)  # loading the model is neither side's training
            took, _ = seconds(lambda: setattr(bare, "train_dataset", plain.dataset(train.sentences)) or bare.train())
            its["training"].append(len(train) / took)

            def predict():
                right = words = 0
                for corpus in tests:
                    output = bare.predict(plain.dataset(corpus.sentences))
                    known = output.label_ids != -100
                    right += int((output.predictions.argmax(-1) == output.label_ids)[known].sum())
                    words += corpus.words
                return 100 * right / words

            took, accuracies["Trainer"] = seconds(predict)
            its["evaluation"].append(evaluated / took)

    for _ in range(chosen.turns):
        turn()

    goals = {"float32": (">= 2", ">= 3"), "bfloat16": (">= 4", ">= 4")}[chosen.precision]
    rate, shape = product_rate(encoder, chosen.precision), f"{encoder.depth} x {encoder.width}"
    subwords = {
        "training": 3 * sum(len(window) for window in read_windows(encoder, train).windows),  # backwards twice as much
        "evaluation": sum(len(window) for corpus in tests for window in read_windows(encoder, corpus).windows),
    }
    for work, count, goal in zip(ours, (len(train), evaluated), goals, strict=True):
        what = f"POS {work}, {count} sentences, {shape}" + (", bfloat16" if chosen.precision != "float32" else "")
        a_sentence = subwords[work] * products(encoder) / count
        share = statistics.median(ours[work]) * a_sentence / rate
        row(what, PER_SECOND, ours[work], beside=its[work], peer="Trainer, float32", goal=goal, share=share)
    shape = f"{encoder.depth} layers x {encoder.width}, {len(encoder.tokenizer):,} pieces, {rate / 1e9:,.0f} GFLOP/s"
    note(
        f"POS: {shape}, median of {chosen.turns} turns; accuracy over all words {accuracies['crosslens']:.2f}, of the"
        f" Trainer's model {accuracies['Trainer']:.2f}, after one epoch"
    )


if __name__ == "__main__":
    main()
