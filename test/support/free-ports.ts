// The listeners of an appliance that a test or benchmark starts: on loopback, with ports that the system chooses.

export const FREE_PORTS = {
  HTTP_PORT: '0',
  SEND_PORT: '0',
  SMTP_PORT: '0',
  IMAPS_PORT: '0',
  SUBMISSIONS_PORT: '0',
  SUBMISSION_PORT: '0',
  MANAGESIEVE_PORT: '0',
  CLIENT_BIND: '127.0.0.1',
  OPERATOR_BIND: '127.0.0.1:0',
}
