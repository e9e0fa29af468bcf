#!/usr/bin/perl
# Run once, when the image is built: what an administrator does to a ticket server before trials may use it.
# The operator's account makes the namespaces of trials; an account of a trial has only what the AdminCc role gives on its queue.
use strict;
use warnings;
use lib '/usr/share/request-tracker5/lib';
use RT -init;

sub done { my ($ok, $message) = @_; die "$message\n" unless $ok; }

my $system = RT->SystemUser;

my $operator = RT::User->new($system);
done($operator->Create(Name => 'trialbed-operator', EmailAddress => 'operator@trialbed.test', Privileged => 1));
done($operator->PrincipalObj->GrantRight(Right => 'SuperUser', Object => RT->System));

my $role = RT::Group->new($system);
done($role->LoadRoleGroup(Object => RT->System, Name => 'AdminCc'), 'no AdminCc role');
for my $right (qw(SeeQueue ShowTicket ShowTicketComments CreateTicket ModifyTicket CommentOnTicket ReplyToTicket OwnTicket SeeCustomField ModifyCustomField)) {
    done($role->PrincipalObj->GrantRight(Right => $right, Object => RT->System));
}

# Teams and colleagues to whom a ticket is assigned have no accounts here, so the owner of a ticket cannot name them.
my $assignee = RT::CustomField->new($system);
done($assignee->Create(Name => 'Assignee', Type => 'FreeformSingle', LookupType => RT::Ticket->CustomFieldLookupType));
done($assignee->AddToObject(RT::Queue->new($system)));

my $root = RT::User->new($system);
$root->Load('root');
done($root->SetDisabled(1));
