// mime/enmime: mails of low quality and single parts, as the Go parser's own tests judge them.

import { familyTests } from '../../support/families.ts'

familyTests('mime/enmime', {
  'low-quality/bad-final-boundary.raw': {
    types: 'multipart/mixed(text/plain application/x-zip-compressed text/plain)',
    files: ['foo_9E5D72.zip'],
  },
  'low-quality/bad-header-wrap.raw': {
    types: 'multipart/mixed(text/plain application/x-zip-compressed)',
    files: ['7DDA4_foo_9E5D72.zip'],
  },
  'low-quality/html-only-inline.raw': {
    bodies: [null, '1.1'],
    files: ['(favicon.png)'],
    preview: 'Test of HTML section',
  },
  'low-quality/missing-content-type2.raw': { types: 'multipart/alternative(text/plain text/plain)' },
  'low-quality/unk-charset-part.raw': { preview: 'A text section', files: ['foo_9E5D72.zip'] },
  'mail/attachment-only.raw': { types: 'image/jpeg', bodies: [null, null], files: ['favicon.jpg'] },
  'mail/attachment-only-no-disposition.raw': { files: ['favicon.jpg'] },
  'mail/attachment-only-inline-quoted-printable.raw': {
    bodies: [null, '1'],
    files: [],
    preview: 'Just some html content',
  },
  'mail/ctype-bug.raw': { bodies: ['1', '2'], preview: "What's next?" },
  'mail/erroneous.raw': { subject: '', types: 'text/plain' },
  'mail/html-mime-bad-charset-inline.raw': { bodies: ['1', '2.1'], files: ['(favicon.png)'] },
  'mail/inlinemultipart.raw': {
    types: 'multipart/mixed(text/plain application/pdf text/plain)',
    files: ['test.pdf', 'test.txt'],
  },
  // The text calls itself base64 and is none.
  'mail/mime-bad-content-transfer-encoding.raw': { preview: 'ploozdect nispplul swunkglap', bodies: ['1', '2'] },
  'mail/mime-blank-media-name.raw': {
    types: 'multipart/mixed(text/plain application/pdf)',
    files: ['Invoice_302232133150612.pdf'],
  },
  'mail/mime-mixed-related.raw': { preview: 'html1', bodies: [null, '1.1.1'] },
  'mail/mime-signed.raw': { bodies: ['1.1', null], files: ['signature.asc'] },
  'mail/multipart-wo-boundary.raw': { types: 'multipart/report', preview: "I'm multipart message without boundary" },
  'mail/non-mime-html.raw': { bodies: [null, '1'], preview: 'This is a test mailing' },
  'mail/qp-utf8-header.raw': {
    from: 'James Hillyerd <jamehi03@jamehi03lx.noa.com>',
    subject: 'MIME UTF8 Test ¢ More Text',
  },
  'mail/qp-utf8-header-no-break.raw': { subject: 'MIME UTF8 Test ¢ More Text' },
  'parts/badboundary.raw': { types: 'multipart/alternative(text/plain text/html text/plain)', bodies: ['1', '2'] },
  'parts/chardet-success-iso-8859-1.raw': { preview: 'DIE Drachenköpfe' },
  'parts/empty-ctype-bad-content.raw': { types: 'multipart/alternative(text/plain)' },
  'parts/extra-base64-character.raw': { preview: 'Hello World!' },
  'parts/missing-closing-param-quote.raw': { types: 'text/html' },
  'parts/missing-ctype.raw': { types: 'multipart/alternative(text/plain text/html)' },
  'parts/multimixed-no-closing-boundary.raw': { bodies: [null, '1'], preview: 'Hello,' },
  'parts/quoted-printable-invalid.raw': {
    preview:
      'https://www.amazon.ca/gp/product/B002M8EEW8/ref=od_aui_detailpages00?ie=UTF8&psc=1 Stuffs’s Weekly Summary',
  },
  'parts/similar-boundary.raw': { types: 'multipart/mixed(text/plain multipart/alternative(text/plain text/html))' },
  'parts/unquoted-ctype-param-special.raw': { types: 'text/calendar', files: ['calendar.ics'] },
})
