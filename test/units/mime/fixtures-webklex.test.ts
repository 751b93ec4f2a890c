// mime/webklex: regressions of a PHP client: names of files, charsets of headers, mails in mails.

import { familyTests } from '../../support/families.ts'

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
