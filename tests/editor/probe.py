"""Asks rust-analyzer the questions of an editor, prints the answers, and fails if an answer differs.

    python3 probe.py [a word of the questions to ask]
"""

import os
import sys
import tempfile
import time

from asking import Answer
from client import Client, RequestError, ServerError
from questions import QUESTIONS

PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "project")
FILES = ["src/lib.rs", "src/desk.rs", "src/steps.rs", "critics/src/lib.rs"]
# The time for loading and for all questions together.
SECONDS = 240


def ask(client, question):
    try:
        return question.ask(client)
    except (RequestError, KeyError, TypeError, ValueError) as error:
        # The answer has another form, or a snippet is no longer in the project.
        return Answer([f"{type(error).__name__}: {error}"], [], False)


def show(question, answer):
    kind = type(question).__name__.lower()
    at = question.at.snippet.replace("$0", "|").strip().splitlines()[-1].strip()
    got = ", ".join(text.strip().splitlines()[0] for text in answer.got)
    print(f"{'ok  ' if answer.ok else 'FAIL'} {kind:11} {question.what:38} {at:37} {got}", flush=True)
    if not answer.ok:
        print(f"{'':17}{'wanted':77}{', '.join(map(repr, answer.wanted)) or 'nothing'}")


def main():
    word = " ".join(sys.argv[1:]).lower()
    questions = [question for question in QUESTIONS if word in repr(question).lower()]
    if not questions:
        sys.exit(f"no question has `{word}` in it")
    start = time.monotonic()
    with tempfile.TemporaryFile() as log:
        client = Client(PROJECT, SECONDS, log)
        try:
            client.load()
            print(f"loaded in {time.monotonic() - start:.1f} s: {client.health}")
            for file in FILES:
                client.open(file)
            failed = 0
            for question in questions:
                answer = ask(client, question)
                show(question, answer)
                failed += not answer.ok
        except ServerError as error:
            log.seek(0)
            sys.exit(f"{error}\n{log.read().decode(errors='replace')[-2000:]}")
        finally:
            client.stop()
    print(f"{len(questions)} questions in {time.monotonic() - start:.1f} s, {failed} answered otherwise")
    # A server that could not load everything answers half of the questions by chance.
    if failed or client.health != "ok":
        sys.exit("; ".join(client.messages) or 1)


if __name__ == "__main__":
    main()
