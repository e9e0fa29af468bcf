# Thanks a customer in a public comment of a ticket, and sets it to solved.
set -u

# One JSON document on one line; the text of the user's message is all that is needed of it.
ticket=$(sed -n 's/.*(ticket \([0-9][0-9]*\)).*/\1/p')
[ -n "$ticket" ] || { echo 'The request names no ticket; I changed nothing.'; exit 0; }

# Carries out a call: the state in which it ended, such as "committed".
call() {
  curl --silent --show-error --header "Authorization: Bearer $TRIALBED_TOKEN" --json "$2" "$TRIALBED_GATEWAY/tools/$1" |
    sed -n 's/.*"state":"\([a-z_]*\)".*/\1/p'
}

body='Thank you. You find all your receipts under \"My orders\" in your account. Kind regards, Mara'
commented=$(call comment_ticket "{\"ticket_id\": $ticket, \"public\": true, \"body\": \"$body\"}")
[ "$commented" = committed ] || { echo "I could not comment on ticket $ticket ($commented), so I left it open."; exit 0; }
solved=$(call update_ticket "{\"ticket_id\": $ticket, \"status\": \"solved\"}")
[ "$solved" = committed ] || { echo "I wrote the comment in ticket $ticket, but cannot say that its status is changed ($solved)."; exit 0; }
echo "I wrote the comment in ticket $ticket and set it to solved."
