// What Ana of the demo finds in her mailbox besides the daily messages of the yard: letters, orders, a newsletter, and what she did with them.

/** A message that arrives once. Hours count back from now. */
export interface Letter {
  from: string
  hoursAgo: number
  subject: string
  text: string
  html?: string
  attached?: { filename: string; bytes: number }
  headers?: Record<string, string>
  /** Ana has read it. */
  isRead?: true
  label?: string
  isFlagged?: true
  /** It waits for so many hours from now. */
  returnsIn?: number
}

const order = `<html><body style="margin:0;background:#f2f5f8;font-family:Arial,sans-serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:24px">
<table role="presentation" width="560" cellpadding="0" cellspacing="0" style="background:#ffffff;border:1px solid #d9e0e7">
<tr><td style="background:#17405c;color:#ffffff;padding:20px 28px;font-size:20px;font-weight:bold">NORDTAU · Ropes since 1911</td></tr>
<tr><td style="padding:24px 28px;color:#22313f;font-size:15px;line-height:22px">
<h1 style="font-size:22px;margin:0 0 12px">Three coils leave Bremen today</h1>
<p>Dear Ana, your order is packed. The carrier brings it on Thursday between nine and eleven.</p>
<table width="100%" cellpadding="8" cellspacing="0" style="border-collapse:collapse;font-size:14px">
<tr style="background:#eef3f7"><th align="left">Article</th><th align="right">Length</th><th align="right">Price</th></tr>
<tr><td>Mainsheet, 10 mm, braided</td><td align="right">28 m</td><td align="right">€ 96.60</td></tr>
<tr><td>Halyard, 12 mm, low stretch</td><td align="right">40 m</td><td align="right">€ 212.00</td></tr>
<tr><td>Mooring line, 18 mm</td><td align="right">60 m</td><td align="right">€ 174.00</td></tr>
<tr><td colspan="2"><b>Sum</b></td><td align="right"><b>€ 482.60</b></td></tr></table>
<p style="padding-top:8px"><a href="https://nordtau.example/track/2030-117" style="background:#17405c;color:#ffffff;padding:10px 18px;text-decoration:none">Follow the parcel</a></p>
</td></tr></table></td></tr></table></body></html>`

const news = `<html><body style="font-family:Georgia,serif;color:#1c2b33">
<h1 style="font-size:24px">Boats of the week</h1>
<p>A cutter of 1934 looks for hands that know caravel planking, two dinghies for children, and someone gives away a mast.</p>
<h2 style="font-size:18px">Storm on Thursday?</h2>
<p>The models disagree. Double your lines on Wednesday evening and read the harbour board.</p>
<p style="font-size:13px;color:#5a6b75">You read this because you asked for it at the regatta of 2028.</p></body></html>`

export const LETTERS: readonly Letter[] = [
  {
    from: 'Nordtau Ropes <orders@nordtau.example>',
    hoursAgo: 1,
    subject: 'Order 2030-117: three coils leave Bremen today',
    text: 'Dear Ana,\n\nyour order is packed. The carrier brings it on Thursday between nine and eleven.\n',
    html: order,
    attached: { filename: 'delivery-note-2030-117.pdf', bytes: 84_000 },
    label: 'suppliers',
  },
  {
    from: 'Marta Oliveira <marta@seaglass.example>',
    hoursAgo: 4,
    subject: 'Shop window for the regatta',
    text: 'Hi Ana,\n\nthree sketches are attached. I like the second one best: the blue hull, and the price tags as signal flags.\n\nIf you agree I order the boards tomorrow.\n\nMarta\n',
    attached: { filename: 'window-sketches.pdf', bytes: 412_000 },
    isFlagged: true,
  },
  {
    from: 'Harbourmaster <harbourmaster@quayside.example>',
    hoursAgo: 6,
    subject: 'Mooring fees for May',
    text: 'Dear Ana,\n\nplease find attached the fees for berths 12 to 16. Berth 14 was empty for nine days; we have taken them off.\n\nKind regards\nThe harbour office\n',
    attached: { filename: 'fees-may.pdf', bytes: 38_000 },
    label: 'accounts',
  },
  {
    from: 'Fjordmail Weekly <news@fjordmail.example>',
    hoursAgo: 9,
    subject: 'Boats of the week: a cutter of 1934',
    text: 'A cutter of 1934, two dinghies and a mast.\n',
    html: news,
    headers: {
      'List-Id': '<weekly.fjordmail.example>',
      'List-Unsubscribe': '<https://fjordmail.example/leave?reader=ana>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  },
  {
    from: 'Solent Sails <loft@solentsails.example>',
    hoursAgo: 26,
    subject: 'Your mainsail is ready for fitting',
    text: 'Good morning!\n\nThe loft finished the new main for Solveig. Could someone be on board on Friday at ten? We bring the battens.\n\nJack\n',
    isRead: true,
    returnsIn: 40,
  },
  {
    from: 'Kenji Mori <kenji.mori@seaglass.example>',
    hoursAgo: 30,
    subject: 'Kittiwake: two keel bolts',
    text: 'Hello Ana,\n\nall twelve are out. Two are worse than they looked: numbers four and nine have lost a third of their diameter. I would change all of them while the keel is off.\n\nI need your word by Wednesday, so that the bolts are here before the crane.\n\nKenji\n',
    isRead: true,
    isFlagged: true,
    label: 'kittiwake',
  },
  {
    from: 'Olu Adeyemi <olu.adeyemi@fjordmail.example>',
    hoursAgo: 54,
    subject: 'Thank you for Saturday',
    text: 'Dear all,\n\nthe children have talked of nothing else since. The small one wants to build a boat now.\n\nOlu\n',
    isRead: true,
  },
  {
    from: 'Marta Oliveira <marta@seaglass.example>',
    hoursAgo: 77,
    subject: 'April closing',
    text: 'Done, apart from the two invoices of the chandlery. They promise them for Monday.\n',
    attached: { filename: 'april.csv', bytes: 9_000 },
    isRead: true,
    label: 'accounts',
  },
  {
    from: 'Crew of Solveig <crew@quayside.example>',
    hoursAgo: 101,
    subject: 'Life rafts are due in June',
    text: 'Both rafts must be inspected before the season. The station in town takes them on Tuesdays only.\n',
    isRead: true,
  },
]
