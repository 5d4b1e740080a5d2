"""Following the log of a tool while it runs."""

from boards.follow import following


def test_each_whole_line_of_a_stage_is_told_once(tmp_path, monkeypatch):
    monkeypatch.setattr("boards.follow.PERIOD_S", 0.01)
    log, told = tmp_path / "tool.log", []
    with following(log, r"^Info: +(Running .*|iter=\d+)", told.append):
        with log.open("w") as file:
            for text in (
                "Info: Running the pla",
                "cer\n",
                "Info: nothing\nInfo:   iter=",
                "12 x\n",
            ):
                file.write(text)
                file.flush()
    assert told == ["Running the placer", "iter=12"]


def test_a_tool_without_a_log_is_no_failure(tmp_path):
    told = []
    with following(tmp_path / "none.log", r"(.*)", told.append):
        pass
    assert told == []
