-- The tables of tickets hold the start alone. What becomes of it, and new tickets, are in the ticket system, so nothing here may refer to them.
alter table follow_ups drop constraint follow_ups_ticket_id_fkey;
alter table ticket_comments drop constraint ticket_comments_ticket_id_fkey;
