# Configuration of the ticket server for trials.
Set($rtname, 'trialbed.test');
Set($Organization, 'trialbed.test');
Set($CorrespondAddress, 'desk@trialbed.test');
Set($CommentAddress, 'desk-comment@trialbed.test');
Set($OwnerEmail, 'desk@trialbed.test');

Set($WebDomain, 'localhost');
Set($WebPort, 8080);
Set($WebPath, '');

Set($DatabaseType, 'Pg');
Set($DatabaseHost, '127.0.0.1');
Set($DatabasePort, 5432);
Set($DatabaseName, 'rt5');
Set($DatabaseUser, 'rt');
Set($DatabasePassword, 'rt');

# Each call checks a secret, and the default cost is for passwords that people choose.
Set($BcryptCost, 4);

Set($LogToSTDERR, 'warning');
Set($LogToSyslog, undef);
Set($StatementLog, undef);
Set($UseSQLForACLChecks, 1);
Set($Timezone, 'UTC');

# Mail goes to the server that the container is given, or nowhere.
if ($ENV{TRIALBED_MAIL_HOST}) {
    Set($MailCommand, 'sendmailpipe');
    Set($SendmailPath, '/usr/sbin/sendmail');
}
else {
    Set($MailCommand, 'testfile');
}
1;
