// mime/flanker: bounces, reports, odd encodings.

import { familyTests } from '../../support/families.ts'

familyTests('mime/flanker', {
  'apache-message-news-mime.eml': { types: 'multipart/mixed(text/plain message/news)' },
  'bilingual-simple.eml': {
    subject: 'Simple text. How are you? Как ты поживаешь?',
    preview: 'This line is in English А эта линия',
  },
  'bz2-attachment.eml': { files: ['foo.txt.bz2'], preview: 'hello, world' },
  'disposition-notification.eml': {
    types: 'multipart/report(text/plain message/disposition-notification message/rfc822(text/plain))',
  },
  'encoded-header.eml': { from: 'Foo, Bar <foo.bar@example.com>' },
  // These two start with an empty line: the header is empty, all the rest is body.
  'enclosed-broken-body.eml': { subject: '', types: 'text/plain' },
  'mailgun-pic.eml': { subject: '', types: 'text/plain' },
  'from-encoding.eml': { from: 'Ingo Lütkebohle <ingo@blank.pages.de>' },
  'missing-boundaries.eml': { types: 'text/plain', preview: 'Hi This is a broken message' },
  'multi-received-headers.eml': { bodies: ['1', '2'] },
  'signed.eml': { types: 'multipart/signed(application/plain application/x-pkcs7-signature)' },
  'torture-part.eml': { types: 'multipart/mixed(text/plain message/rfc822(multipart/alternative(text/plain)))' },
  'bounce/delayed-broken.eml': { types: 'message/delivery-status' },
  'bounce/office365.eml': {
    types:
      'multipart/report(multipart/alternative(text/plain text/html) message/delivery-status message/rfc822(text/plain))',
  },
  'complaints/yahoo.eml': { types: 'multipart/report(text/plain message/feedback-report message/rfc822(text/html))' },
  'spam/broken-headers.eml': { subject: 'Forget Asking For A Link Exchange…' },
})
