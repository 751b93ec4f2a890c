// Messages of our own, and those of other parsers' tests where the fixtures are: all are sound, and many have known properties.

import { test } from 'node:test'
import { assertFacts, familyTests } from '../../support/families.ts'
import { MESSAGES } from '../../vectors/messages.ts'

for (const { name, content, facts } of MESSAGES) test(name, () => assertFacts(content, facts))

// Mails of low quality and single parts, as the Go parser's own tests judge them.
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

// Bounces, reports, odd encodings.
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

// The messages of Python's own tests.
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

// Charsets, odd attachment names, the mails of RFC 2822's appendix, and mails with errors.
familyTests('mime/ruby-mail', {
  'attachment_emails/attachment_pdf_lf.eml': {
    subject: 'Another PDF with 🎉 Unicode chars in it 🍿',
    files: ['broken.pdf'],
  },
  'attachment_emails/attachment_with_unquoted_name.eml': { files: ['This is a test.txt'], bodies: ['1', null] },
  'attachment_emails/attachment_message_rfc822_inline_image.eml': { files: ['(img.png)', 'Testmail.eml'] },
  // The name calls itself ISO-2022-JP and holds an octet that is none.
  'attachment_emails/attachment_with_encoded_name.eml': { files: ['01 Quien Te Dij\ufffdat. Pitbull.mp3'] },
  'error_emails/bad_date_header2.eml': { sentAt: null, from: 'Free-Quilting.com <enews@Free-Quilting.com>' },
  'error_emails/bad_subject.eml': { subject: 'MySurvey.com: You have a survey waiting! 91123105', bodies: ['1', '2'] },
  'error_emails/content_transfer_encoding_7-bit.eml': { types: 'multipart/alternative(text/plain text/html)' },
  'error_emails/content_transfer_encoding_plain.eml': { preview: 'acidness Exciting Easter Investor Alert' },
  'error_emails/content_transfer_encoding_x_uuencode.eml': { files: ['PGP_Cmts_on_12-14-01_Pkg.doc'] },
  'error_emails/header_fields_with_empty_values.eml': { from: 'Jørn Støylen <jorn@prikkprikkprikk.no>' },
  'error_emails/multiple_content_types.eml': { types: 'multipart/alternative(text/plain text/html)', preview: 'foo' },
  'error_emails/new_line_in_to_header.eml': { to: 6, subject: '[Online Lead] Online Lead #1111111' },
  'error_emails/weird_to_header.eml': { to: 2 },
  'mime_emails/raw_email7.eml': { files: ['test.rb', 'test.pdf', 'smime.p7s'], bodies: ['1.1', null] },
  'mime_emails/raw_email11.eml': { types: 'multipart/alternative(text/plain text/enriched)', files: [] },
  'mime_emails/raw_email_with_nested_attachment.eml': { files: ['truncated.png', 'smime.p7s'] },
  'multi_charset/japanese.eml': { subject: 'まみむめも', preview: 'かきくえこ' },
  'multi_charset/japanese_attachment_long_name.eml': {
    files: [`${'かきくけこ'.repeat(5)}.txt`],
    subject: 'まみむめも'.repeat(10),
  },
  'multi_charset/japanese_shift_jis.eml': { preview: 'あいうえお このメールはテスト用のメールです。' },
  'multipart_report_emails/report_530.eml': {
    types: 'multipart/report(text/plain message/delivery-status text/rfc822-headers)',
  },
  'plain_emails/raw_email.eml': {
    subject: 'NOTE: 한국말로 하는 것',
    preview: '대부분의 마찬가지로, 우리는 하나님을 믿습니다.',
  },
  'plain_emails/raw_email_reply.eml': {
    subject: 'Re: Test reply email',
    references: ['473FF3B8.9020707@xxx.org', '348F04F142D69C21-291E56D292BC@xxxx.net'],
  },
  'plain_emails/raw_email_with_partially_quoted_subject.eml': { subject: 'Re: Test: "漢字" mid "漢字" tail' },
  'rfc2822/example04.eml': { from: 'Pete <pete@silly.example>', to: 3, sentAt: '1969-02-14T03:02:54.000Z' },
  'rfc2822/example06.eml': { references: ['1234@local.machine.example'] },
  'rfc2822/example10.eml': { from: 'Pete <pete@silly.test>', to: 3, sentAt: '1969-02-14T03:02:00.000Z' },
  'rfc2822/example12.eml': { sentAt: '1997-11-21T09:55:06.000Z' },
  'rfc2822/example14.eml': { subject: 'Re: TEST テストテスト' },
})

// Regressions of a PHP client: names of files, charsets of headers, mails in mails.
familyTests('mime/webklex', {
  'attachment_encoded_filename.eml': { files: ['Prostřeno_2014_poslední volné termíny.xls'] },
  'attachment_no_disposition.eml': { files: ['Prostřeno_2014_poslední volné termíny.xls'] },
  'boolean_decoded_content.eml': { bodies: ['1.1', '1.2'], files: ['Example Domain.pdf'] },
  'email_address.eml': { from: 'no_host <>' },
  'embedded_email_without_content_disposition-embedded.eml': { files: ['file1.xlsx', 'file2.xlsx'] },
  'four_nested_emails.eml': { subject: '3-third-subject', preview: '3-third-content', files: ['2-second-email.eml'] },
  'html_only.eml': { bodies: [null, '1'], preview: 'Hi' },
  'inline_attachment.eml': { files: ['(attachment-1.2.png)'] },
  'issue-275.eml': { subject: 'Testing 123', preview: 'Asdf testing123 this is a body' },
  'issue-401.eml': { subject: '1;00pm Client running few minutes late' },
  'issue-410b.eml': { files: ['2021_Mängelliste_0819306.xlsx'] },
  'issue-412.eml': { subject: 'RE: TEST MESSAGE', bodies: ['1', '2'] },
  'issue-414.eml': { files: ['MyFile.txt', 'foo'] },
  'issue-511.eml': {
    from: 'COMPANYNAME | usługi <sender@sender_domain.tld>',
    subject: 'RE: [EXTERNAL] Re: Lorem Ipsum /40 one',
  },
  'ks_c_5601-1987_headers.eml': {
    from: '김 현진 <from@there.com>',
    subject: 'RE: 회원님께 Ersi님이 메시지를 보냈습니다.',
  },
  'missing_date.eml': { sentAt: null },
  'mixed_filename.eml': { from: 'Прайсы || ПартКом <support@part-kom.ru>', files: ['Price4VladDaKar.xlsx'] },
  'multiple_html_parts_and_attachments.eml': { files: ['attachment1.pdf', 'attachment2.pdf'] },
  'nestes_embedded_with_attachment.eml': { files: ['first.eml', 'second.eml'] },
  'pec.eml': { files: ['data.xml', 'postacert.eml', 'smime.p7s'] },
  'structured_with_attachment.eml': { preview: 'Test', files: ['MyFile.txt'] },
  'undefined_charset_header.eml': { subject: 'Submit your tax refund | Australian Taxation Office.' },
  'undisclosed_recipients_minus.eml': { to: 0, preview: 'Hi!' },
  'unknown_encoding.eml': { preview: 'MyPlain' },
})
