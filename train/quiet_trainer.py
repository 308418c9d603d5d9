"""What SFT and RL share of TRL's trainers: no output, model card or telemetry of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import Trainer as _Base
else:
    _Base = object


class QuietTrainer(_Base):
    """Mixin that comes before a trainer of TRL; logging and model cards are this project's."""

    def __init__(self, **arguments: Any) -> None:
        from transformers import PrinterCallback

        super().__init__(**arguments)
        self.remove_callback(PrinterCallback)

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: TRL would write a card into each checkpoint; a run's card is `train/model_card.py`."""

    def _send_telemetry(self) -> None:
        """Do nothing: a run reports only to what `report_to` names."""
