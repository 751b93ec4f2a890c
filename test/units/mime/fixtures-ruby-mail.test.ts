// mime/ruby-mail: charsets, odd attachment names, the mails of RFC 2822's appendix, and mails with errors.

import { familyTests } from '../../support/families.ts'

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
