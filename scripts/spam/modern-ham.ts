// Ordinary mail of today, written for this purpose: what the public corpus of 2002 does not have, HTML of services and of offices.

/** One text: sender, subject, paragraphs; a paragraph "[…]" is a button. */
type Text = readonly [sender: string, subject: string, ...paragraphs: string[]]

const SERVICES: readonly Text[] = [
  [
    'Northwind Accounts',
    'Reset your password',
    'Hi Ben,',
    'We received a request to reset the password of your account. Use the button below; the link is valid for 24 hours.',
    '[Reset your password]',
    'If you did not ask for this, you can ignore this email. Your password stays the same.',
  ],
  [
    'Harbor',
    'Confirm your email address',
    'Welcome! Please confirm that this is your email address so that we can finish setting up your account.',
    '[Confirm email address]',
    'If you did not create an account, no further action is required.',
  ],
  [
    'Lantern',
    'Your sign-in code is 493021',
    'Enter this code to sign in:',
    '493021',
    'The code expires in 10 minutes. Do not share it with anyone.',
  ],
  [
    'Lantern Security',
    'New sign-in to your account',
    'We noticed a new sign-in to your account from Chrome on Windows in Hamburg.',
    'If this was you, there is nothing to do. If not, review your recent activity and change your password.',
    '[Review activity]',
  ],
  [
    'Parcel Point',
    'Your order has shipped',
    'Good news: your order 2041-77 is on its way and should arrive on Thursday.',
    '[Track your package]',
    'Delivery address: Ben Example, Hill Street 4.',
    'Questions? Reply to this email or visit our help center.',
  ],
  [
    'Orchard Books',
    'Thank you for your order',
    'Hi Ben, thank you for your purchase. This is the receipt for your records.',
    'Subtotal $38.00 Shipping $4.50 Total $42.50',
    'Payment method: Visa ending in 4242',
    '[View your order]',
  ],
  [
    'Meadow Billing',
    'Your invoice for March is available',
    'Hello, your invoice for the billing period March 1 – March 31 is now available. The amount of €29.00 will be charged to your card on file.',
    '[Download invoice]',
    'You are receiving this email because you are the billing contact of your organization.',
  ],
  [
    'Meadow Billing',
    'Payment failed: please update your card',
    'We were unable to charge your card for your subscription. We will try again in three days. To avoid an interruption of service, please update your payment details.',
    '[Update payment method]',
    'Thanks, the Meadow team',
  ],
  [
    'Compass',
    'Your trial ends in 3 days',
    'Your free trial of Compass Pro ends on Friday. Upgrade now to keep access to your projects, or export your data at any time.',
    '[Choose a plan]',
    'Do you have questions? Just reply to this email, we are always happy to help.',
  ],
  [
    'Compass',
    'Your trial has expired',
    'Thanks for trying Compass. Your trial has ended, but your data is safe for 30 days.',
    '[Upgrade your account]',
    'If Compass was not for you, tell us why: we read every answer.',
  ],
  [
    'Compass',
    'Ann invited you to the project Granite',
    'Ann Miller has invited you to collaborate on the project Granite.',
    '[Accept the invitation]',
    'The invitation expires in seven days. If you do not know the sender, you can ignore it.',
  ],
  [
    'Compass',
    'Ann mentioned you in a comment',
    'Ann Miller mentioned you in Release checklist:',
    '@ben can you look at the last two points before Monday?',
    '[View comment]',
    'You receive this because you were mentioned. Change your notification settings at any time.',
  ],
  [
    'Foundry',
    '[acme/api] Fix race in session cleanup (PR #482)',
    'ann-m left a comment on this pull request.',
    'I think we should hold the lock until the write is flushed. Otherwise the test is flaky on slow disks.',
    'Reply to this email directly, view it on the web, or unsubscribe.',
  ],
  [
    'Foundry',
    '[acme/web] Run failed: build (main)',
    'The workflow build failed in 3 minutes 12 seconds.',
    'Jobs: lint succeeded, unit tests failed, deploy skipped.',
    '[View workflow run]',
  ],
  [
    'Beacon Status',
    'Resolved: elevated error rates',
    'This incident has been resolved. Between 09:12 and 09:47 UTC some requests failed with status 503. We will publish a review within five days.',
    '[View incident]',
  ],
  [
    'Granite Cloud',
    'Scheduled maintenance on June 4',
    'We will perform maintenance on the database servers in eu-central on June 4 between 02:00 and 04:00 UTC. No action is required on your part.',
    'You may see short interruptions of a few seconds.',
  ],
  [
    'Granite Cloud',
    'Your monthly usage report',
    'Here is the summary of your usage last month: 412 GB of transfer, 1.2 million requests, 99.98 % availability.',
    '[See details]',
  ],
  [
    'Willow Calendar',
    'Invitation: Design review @ Tue 3pm - 4pm',
    'You have been invited to the following event.',
    'Design review. When: Tuesday 3pm – 4pm. Where: Room 4 or video call. Organizer: Ann Miller.',
    '[Yes] [Maybe] [No]',
  ],
  [
    'Willow Calendar',
    'Reminder: dentist tomorrow at 9:30',
    'This is a reminder of your appointment tomorrow at 9:30. Please let us know at least 24 hours before if you cannot come.',
  ],
  [
    'Velvet Air',
    'Your booking confirmation RX7Q2L',
    'Thank you for booking with us. Your flight from Berlin to Lisbon on 14 May is confirmed.',
    'Passenger: Ben Example. Seat 14C. Baggage: 1 x 23 kg.',
    '[Manage booking]',
    'Online check-in opens 24 hours before departure.',
  ],
  [
    'Harvest Hotel',
    'Your reservation is confirmed',
    'Dear guest, we look forward to welcoming you from 12 to 15 August. Check-in is from 3 pm. You can cancel free of charge until 10 August.',
    '[View reservation]',
  ],
  [
    'City Library',
    'Two of your items are due soon',
    'The following items are due in three days. You can renew them online up to two times.',
    '[Renew items]',
  ],
  [
    'Oyster Bank',
    'Your statement is ready',
    'Your account statement for April is available in online banking. For your security we never ask for your PIN or password by email.',
    'Sign in as usual by typing our address into your browser.',
  ],
  [
    'Oyster Bank',
    'You have a new message in your inbox',
    'A new document has been placed in your mailbox. Please sign in to read it. This message was generated automatically.',
  ],
  [
    'Timber Insurance',
    'Your claim 88-2013 has been received',
    'We have received your claim and the photos you uploaded. A colleague will contact you within three working days.',
  ],
  [
    'Kernel Weekly',
    'Kernel Weekly #214: faster builds, smaller images',
    'This week: how a team cut its build time in half, a guide to smaller container images, and five tools we like.',
    '[Read the issue]',
    'You are receiving this because you signed up at our website. Unsubscribe or update your preferences.',
  ],
  [
    'Copper Kitchen',
    'New in our shop: spring recipes and 15 % off',
    'Spring is here! Discover our new recipes with asparagus and wild garlic. Until Sunday you save 15 % on all baking pans.',
    '[Shop now]',
    'View this email in your browser. Unsubscribe. Copper Kitchen Ltd, Mill Lane 2.',
  ],
  [
    'Anchor Sports',
    'Our summer sale starts today',
    'Up to 40 % off running shoes, jackets and more, while stocks last. Members get free shipping this weekend.',
    '[Shop the sale]',
    'You are subscribed with this address. Unsubscribe | Privacy | Imprint',
  ],
  [
    'Quartz Learning',
    'Your course starts on Monday',
    'We are glad that you are taking part in Introduction to Statistics. The first lesson is unlocked on Monday at 10 am.',
    '[Go to the course]',
  ],
  [
    'Silver Forum',
    'New replies in: Which mail server?',
    'There are 3 new replies in a topic you follow.',
    '“We moved last year and are happy with it.”',
    '[Visit topic]',
    'To stop receiving notifications for this topic, click here.',
  ],
  [
    'Pepper Surveys',
    'How did we do?',
    'Thank you for contacting our support. We would like to hear how it went. The survey takes one minute.',
    '[Rate our service]',
  ],
  [
    'Support',
    '[Ticket 10482] Your request has been received',
    'Thank you for contacting us. Your request has been received and is being reviewed by our support staff. To add comments, reply to this email.',
  ],
  [
    'Candle HR',
    'Your payslip for May',
    'Your payslip for May is available in the employee portal. If you have questions about it, please contact the payroll office.',
  ],
  [
    'Umbrella Sign',
    'Ann sent you a document to sign',
    'Ann Miller sent you the document Lease agreement for review and signature.',
    '[Review document]',
    'This request expires in 30 days.',
  ],
  [
    'Feather Drive',
    'Ann shared “Budget 2025” with you',
    'Ann Miller shared a spreadsheet with you and added a note: here are the numbers for tomorrow.',
    '[Open]',
  ],
  [
    'Glacier DNS',
    'Your domain will renew in 30 days',
    'The domain example.org will be renewed automatically on 2 July for 12.00 €. If you do not want to keep it, switch off automatic renewal before.',
    '[Manage domain]',
  ],
  [
    'Terms',
    'We are updating our terms of service',
    'On 1 September we will update our terms of service and privacy policy. We have summarized the changes for you. By using the service after this date you agree to them.',
    '[Read the changes]',
  ],
  [
    'Stadtwerke',
    'Ihre Rechnung für Mai',
    'Guten Tag, Ihre Rechnung für den Monat Mai liegt in Ihrem Kundenkonto bereit. Der Betrag von 84,20 € wird am 15. abgebucht.',
    '[Rechnung ansehen]',
    'Mit freundlichen Grüßen, Ihr Kundenservice',
  ],
  [
    'Buchladen',
    'Ihre Bestellung wurde versandt',
    'Guten Tag, Ihre Bestellung ist unterwegs und wird voraussichtlich am Donnerstag zugestellt.',
    '[Sendung verfolgen]',
    'Vielen Dank für Ihren Einkauf.',
  ],
  [
    'Konto',
    'Bestätigen Sie Ihre E-Mail-Adresse',
    'Willkommen! Bitte bestätigen Sie Ihre E-Mail-Adresse, um die Anmeldung abzuschließen.',
    '[E-Mail-Adresse bestätigen]',
  ],
  [
    'Librairie',
    'Votre commande a été expédiée',
    'Bonjour, votre commande est en route et arrivera jeudi. Vous pouvez suivre votre colis en ligne.',
    '[Suivre mon colis]',
    'Merci pour votre confiance.',
  ],
  [
    'Compte',
    'Réinitialisation de votre mot de passe',
    'Bonjour, vous avez demandé un nouveau mot de passe. Le lien est valable 24 heures.',
    '[Choisir un mot de passe]',
  ],
  [
    'Tienda',
    'Confirmación de tu pedido',
    'Hola, gracias por tu compra. Te avisaremos cuando el pedido salga de nuestro almacén.',
    '[Ver pedido]',
  ],
  [
    'Loja',
    'O seu pedido foi enviado',
    'Olá, o seu pedido está a caminho e deve chegar na quinta-feira.',
    '[Acompanhar entrega]',
    'Obrigado pela sua compra.',
  ],
]

const PEOPLE: readonly Text[] = [
  [
    'Ann Miller',
    'Re: Draft agenda for Thursday',
    'Hi Ben,',
    'thanks for the draft. I would move the budget to the end and give the release more time. Otherwise fine with me.',
    'Best, Ann',
  ],
  ['Carla Ruiz', 'Lunch on Friday?', 'Hey, are you around on Friday? The new place at the corner has opened. Carla'],
  [
    'Tom Becker',
    'Offer for the server room',
    'Dear Mr. Example, as discussed on the phone, please find attached our offer. It is valid until the end of the month. Do not hesitate to call me if anything is unclear.',
    'Kind regards, Tom Becker',
  ],
  [
    'Tom Becker',
    'Invoice 2025-118',
    'Dear Mr. Example, please find attached our invoice for the work in April. Payment is due within 14 days. Thank you for your business.',
    'Kind regards, Tom Becker',
  ],
  [
    'Priya Nair',
    'Re: Re: Access to the repository',
    'Done, you should see it now. Can you add me as a reviewer for the migration? I am out from Wednesday.',
    'Priya',
  ],
  [
    'Jo Lind',
    'Minutes of today',
    'All, the minutes are below. Decisions: we keep the old server until June; Ben writes to the hoster; next meeting in two weeks.',
  ],
  [
    'Sam Otieno',
    'Contract for signature',
    'Hi Ben, attached is the final version with the changes of legal. Please sign and send it back by Tuesday if possible.',
    'Thanks, Sam',
  ],
  [
    'Marie Dubois',
    'Question about your product',
    'Hello, we are a team of twelve and consider using your product. Does it run behind a proxy, and what does support cost? Best regards, Marie',
  ],
  [
    'Lena Vogt',
    'Unterlagen für das Treffen',
    'Hallo Ben, anbei die Unterlagen für morgen. Kannst du bitte noch die Zahlen vom letzten Quartal ergänzen? Danke und bis morgen, Lena',
  ],
  [
    'Paul Martin',
    'Réunion de lundi',
    'Bonjour, je confirme la réunion de lundi à 10 h. Pouvez-vous apporter le contrat signé ? Cordialement, Paul',
  ],
  [
    'Mom',
    'Photos',
    'Dear Ben, here are the pictures from Sunday. Grandma was so happy that you came. Call me when you have time. Love, Mom',
  ],
  [
    'Ann Miller',
    'Fwd: Insurance papers',
    'FYI, see below. I think we should ask for a second quote before we sign.',
    'Ann',
  ],
]

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const address = (sender: string): string => `${sender.toLowerCase().replace(/[^a-z]+/g, '.')}@mail.example`
const head = (sender: string, subject: string, type: string): string =>
  `From: "${sender}" <${address(sender)}>\r\nTo: Ben <ben@here.example>\r\nSubject: ${subject}\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n`
const link = (words: string, at: number): string =>
  `https://links.mail.example/${(at * 7919).toString(36)}/${words.length}`

/** HTML as services send it: nested tables, inline styles, a button, a footer. */
function asTable(sender: string, blocks: readonly string[]): string {
  return `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title></title><style>body{margin:0;padding:0}@media only screen and (max-width:600px){.main{width:100%!important}}</style></head><body style="background-color:#f4f4f7;font-family:Helvetica,Arial,sans-serif"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td align="center"><table class="main" role="presentation" width="570" cellpadding="0" cellspacing="0"><tr><td style="padding:25px 0;text-align:center"><a href="https://www.mail.example"><img src="https://static.mail.example/logo.png" width="120" alt="${escaped(sender)}"></a></td></tr><tr><td style="padding:35px;background-color:#ffffff">${blocks.join('')}</td></tr><tr><td style="padding:35px;text-align:center;font-size:12px;color:#a8aaaf"><p>&copy; 2025 ${escaped(sender)}. All rights reserved.</p><p>Mill Lane 2, 12345 Town</p></td></tr></table></td></tr></table><img src="https://links.mail.example/o.gif" width="1" height="1" alt=""></body></html>`
}

/** HTML as mail programs write it. */
function asDivs(_: string, blocks: readonly string[]): string {
  return `<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"></head><body><div dir="ltr">${blocks.map((block) => `<div>${block}</div><div><br></div>`).join('')}</div></body></html>`
}

function htmlBlocks(paragraphs: readonly string[]): string[] {
  return paragraphs.map((paragraph, at) => {
    const button = /^\[(.*)\]$/.exec(paragraph)?.[1]
    if (button === undefined)
      return `<p style="margin:0 0 16px;font-size:16px;line-height:1.5">${escaped(paragraph)}</p>`
    return `<table role="presentation" border="0" cellpadding="0" cellspacing="0"><tr><td align="center"><a href="${link(button, at)}" style="background-color:#3869d4;color:#ffffff;padding:10px 18px;text-decoration:none;border-radius:3px" target="_blank">${escaped(button)}</a></td></tr></table><p style="font-size:13px">${link(button, at)}</p>`
  })
}

function plainText(paragraphs: readonly string[]): string {
  return paragraphs
    .map((paragraph, at) =>
      paragraph.startsWith('[') ? `${paragraph.slice(1, -1)}: ${link(paragraph, at)}` : paragraph,
    )
    .join('\r\n\r\n')
}

/** A message in one of four forms: text, HTML of a mail program, HTML of a service, or text beside it. */
export function messageIn(form: number, sender: string, subject: string, paragraphs: readonly string[]): Buffer {
  const text = plainText(paragraphs)
  if (form === 0) return Buffer.from(`${head(sender, subject, 'text/plain; charset=utf-8')}\r\n${text}\r\n`)
  const html = (form === 1 ? asDivs : asTable)(sender, htmlBlocks(paragraphs))
  if (form === 2) return Buffer.from(`${head(sender, subject, 'text/html; charset=utf-8')}\r\n${html}\r\n`)
  const part = (type: string, body: string) => `--=_b\r\nContent-Type: ${type}; charset=utf-8\r\n\r\n${body}\r\n`
  const parts = part('text/plain', text) + part('text/html', html)
  return Buffer.from(`${head(sender, subject, 'multipart/alternative; boundary="=_b"')}\r\n${parts}--=_b--\r\n`)
}

/** Each text in each form that fits it; texts of one number are one campaign. */
export function modernHam(): { campaign: number; bytes: Buffer }[] {
  const all = [
    ...SERVICES.map((text) => ({ text, forms: [0, 2, 3] })),
    ...PEOPLE.map((text) => ({ text, forms: [0, 1, 3] })),
  ]
  return all.flatMap(({ text: [sender, subject, ...paragraphs], forms }, campaign) =>
    forms.map((form) => ({ campaign, bytes: messageIn(form, sender, subject, paragraphs) })),
  )
}
