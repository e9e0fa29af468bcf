-- Where the gateway that holds the session is reached by the gateways of other workers: a client that comes to one of them is passed on.
alter table trialbed.gateway_tokens add column place text;
