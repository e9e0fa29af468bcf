"""Refunds one product of one order, where a ticket says which; leaves everything else to a colleague."""

import json
import re
import sys

from tools import Tools


def main() -> None:
    request = json.load(sys.stdin)
    print(answer(Tools(), request["text"], request["parameters"]["limit"]))


def answer(tools: Tools, text: str, limit: float) -> str:
    ticket_id = re.search(r"\bticket (\d+)", text, re.I)
    if ticket_id is None or not re.search(r"\brefund", text, re.I):
        return "I only take care of refunds that a ticket asks for; I changed nothing."
    ticket = tools.read("get_ticket", ticket_id=int(ticket_id[1]))
    order_id = re.search(r"\border (\d+)", ticket["body"] if ticket else "", re.I)
    order = tools.read("get_order", order_id=int(order_id[1])) if order_id else None
    if ticket is None or order is None:
        return f"I changed nothing: ticket {ticket_id[1]} names no order that I can find."

    # The complaint decides: the last word of a product's name, such as the lamp of a camping lamp.
    lines = [line for line in order["lines"] if re.search(rf"\b{line['product'].split()[-1]}\b", ticket["body"], re.I)]
    earlier = tools.read("list_refunds", order_id=order["id"])
    if len(lines) != 1 or earlier is None or earlier["refunds"] or lines[0]["unit_price"] > limit:
        return f"I changed nothing: the refund for order {order['id']} needs a colleague's eyes."

    amount = f"{lines[0]['unit_price']:.2f} EUR"
    refund = tools.call("issue_refund", order_id=order["id"], line_id=lines[0]["id"], amount=lines[0]["unit_price"], reason="damaged")
    # It may have been paid, or not: neither is to be said, and paying again is the worst of all.
    if refund["state"] == "unknown":
        return f"I tried to refund {amount} for order {order['id']} and cannot tell whether it was paid. Please look before anybody tries again."
    if refund["state"] != "committed":
        return f"I issued no refund for order {order['id']}: {refund['problem']['message']}"
    mail = tools.call(
        "send_mail",
        to=[order["customer"]["email"]],
        subject=f"Your order {order['id']}",
        text=f"Hello {order['customer']['name']},\nwe have refunded {amount} for {lines[0]['product']} of order {order['id']}.\nKind regards",
    )
    told = " and told the customer by mail" if mail["state"] == "committed" else ", but the mail to the customer did not go out"
    return f"I refunded {amount} for order {order['id']}{told}."


if __name__ == "__main__":
    main()
