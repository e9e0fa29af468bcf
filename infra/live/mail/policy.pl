#!/usr/bin/perl
# Asked by Postfix for each recipient of a submission: an account sends to its own domain and those below it, and nowhere else.
use strict;
use warnings;

$| = 1;
my %asked;
while (my $line = <STDIN>) {
    chomp $line;
    if ($line =~ /^([a-z_]+)=(.*)$/) {
        $asked{$1} = lc $2;
        next;
    }
    my ($own) = ($asked{sasl_username} // '') =~ /@(.+)$/;
    my ($to) = ($asked{recipient} // '') =~ /@([^@]+)$/;
    my $within = defined $own && defined $to && ($to eq $own || substr($to, -length(".$own")) eq ".$own");
    print $within ? "action=permit\n\n" : "action=554 5.7.1 this account sends within its own domain only\n\n";
    %asked = ();
}
