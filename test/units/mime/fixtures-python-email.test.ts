// mime/python-email: the messages of Python's own tests.

import { familyTests } from '../../support/families.ts'

const digest = `multipart/digest(${Array.from({ length: 5 }, () => 'message/rfc822(text/plain)').join(' ')})`
const pair = 'multipart/alternative(application/octet-stream application/octet-stream)'

familyTests('mime/python-email', {
  'msg_02.txt': { types: `multipart/mixed(text/plain text/plain ${digest} text/plain)` },
  'msg_04.txt': { types: 'multipart/mixed(text/plain text/plain)', files: ['msg.txt', 'msg.txt'] },
  'msg_06.txt': { types: 'message/rfc822(text/plain)', subject: 'forwarded message from Barry A. Warsaw' },
  'msg_12.txt': {
    types: 'multipart/mixed(text/plain text/html multipart/mixed(text/plain text/plain) text/plain text/plain)',
  },
  'msg_13.txt': {
    types: 'multipart/mixed(text/plain multipart/mixed(text/plain image/gif))',
    files: ['dingusfish.gif'],
  },
  'msg_15.txt': { bodies: ['1.1', '1.2'], files: ['xx.gif'] },
  'msg_19.txt': { types: 'text/plain', preview: 'Send Ppp mailing list submissions to' },
  'msg_21.txt': { types: 'multipart/mixed(text/plain text/plain)', preview: 'One' },
  // Its boundary parameter broke off.
  'msg_25.txt': { types: 'multipart/report', to: 2, preview: 'This is a MIME-encapsulated message' },
  // No line starts with the boundary it names.
  'msg_31.txt': { types: 'multipart/mixed' },
  // No empty line ends the header.
  'msg_35.txt': { subject: "here's something interesting", preview: 'counter to RFC 2822' },
  'msg_37.txt': {
    types: 'multipart/mixed(text/x-one text/plain text/x-two text/plain text/plain text/plain text/x-two)',
  },
  'msg_39.txt': { types: `multipart/mixed(multipart/mixed(${pair} ${pair} ${pair}) text/plain)` },
  'msg_41.txt': { types: 'multipart/alternative', preview: 'Blah blah blah' },
  'msg_43.txt': {
    from: 'MAILER DAEMON <>',
    types: 'multipart/report(text/plain message/delivery-status text/rfc822-headers)',
  },
  'msg_45.txt': { types: 'multipart/signed(text/plain application/pgp-signature)', files: ['signature.asc'] },
})
