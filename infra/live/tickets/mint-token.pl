#!/usr/bin/perl
# Prints a new token of the operator's account: there is no REST call that makes one.
use strict;
use warnings;
use lib '/usr/share/request-tracker5/lib';
use RT -init;

my $operator = RT::CurrentUser->new('trialbed-operator');
my ($ok, $message, $secret) = RT::AuthToken->new(RT->SystemUser)->Create(Owner => $operator->Id, Description => 'trialbed');
die "$message\n" unless $ok;
print "$secret\n";
