// Classifies the text of SMTP rejections by well-known phrases, in order of precedence.

/** Why a message was rejected, as far as codes and text show. */
export type RefusalCause =
  | 'suppressed'
  | 'greylisted'
  | 'mailbox_full'
  | 'throttled'
  | 'policy'
  | 'content'
  | 'too_large'
  | 'no_such_user'
  | 'no_such_domain'
  | 'no_mail_taken'
  | 'disabled'
  | 'dns'
  | 'network'
  | 'expired'
  | 'server'
  /** Rejected without a reason. */
  | 'refused'

/** Causes whose phrases occur in many rejections and are not specific. */
export const VAGUE: ReadonlySet<RefusalCause> = new Set(['expired', 'dns', 'network', 'server', 'refused'])

/** Examined characters of a text. */
export const PHRASE_TEXT_MAX = 2000
/** Cisco gateways prepend this to the reply of another server. */
const WRAPPER = /5\.1\.0 - unknown address error/

/** Matches the second expression within a distance after the first. */
function near(first: string, second: string, distance: number): RegExp {
  return new RegExp(`(?:${first}).{0,${distance}}(?:${second})`)
}

const STORE = 'mail ?box|inbox|mailfolder|maildir|mail file|mail store|message store|storage|disk|account|user'
const WHO =
  'user|recipient|mail ?box|address|account|addressee|alias|local ?part|person|subscriber|spectator|destinataire|' +
  'destination|userid|id'
const GONE =
  'unknown|not (?:be )?found|not known|does ?n.t exist|not exist|not listed|non-?exist|unavailable|unavaiable|' +
  'not available|invalid|not valid|is not a|not present|not recogni[sz]ed|not local|not here|not accepted|not ok|' +
  'no longer (?:valid|accept|exist|in use|available|here|with|works)|illegal|has been replaced|has moved|wrong|' +
  'refuses to accept|inconnu|not registered|isn.t in|t exist'
const NONE =
  'unknown|invalid|no such|no valid|no|bad|non-?existent|illegal|not a valid|not a known|undeliverable|' +
  'unrecogni[sz]ed|not our|wrong'
const NOBODY =
  '(?:user|recipient|mail ?box|address|account|alias|local ?part|person|addressee|customer|subscriber|rcpt|' +
  'e-?mail address|destination mailbox|destination address|final delivery userid)'
const OFF = 'disabled|discontinued|suspend|deactivat|locked|frozen|inactiv|not active|expirad|terminated|closed|archiv'

/**
 * The first match decides: a text about a full mailbox and an unknown user is about the full mailbox. The patterns are applied
 * to lower-case text with single spaces. All repetitions are bounded or end with a fixed word, so matching is linear.
 */
const PHRASES: readonly (readonly [RefusalCause, readonly RegExp[]])[] = [
  [
    'suppressed',
    [
      /suppression list|recipient is suppressed|unsubscribed address/,
      /previously bounced|bounced address|address is on (?:our|the) (?:bounce|block) list/,
    ],
  ],
  // Exceptions to patterns below.
  ['no_such_domain', [/account or domain may not exist/]],
  ['dns', [/not found, try again|temporary (?:dns|lookup)/]],
  ['greylisted', [/gr[ae]y-?list|postgrey|try again in \d+ (?:s|m)/]],
  [
    'mailbox_full',
    [
      near(STORE, '\\bfull\\b|quota|exceed|overdrawn|used up', 40),
      near('over|exceed(?:s|ed|ing)?|out of|beyond', 'quota|storage|disk space|mailbox size', 24),
      near('quota', 'exceed|violation|full|reached|over', 24),
      /full mailbox|mailbox would exceed|not enough (?:storage )?space|does not have enough space/,
      /too many messages on the server|too much mail data|mailsize limit|receiving limits/,
      /bo[iî]te (?:aux lettres |du destinataire )?pleine|postfach.{0,20}voll|casilla.{0,24}(?:llena|agotad)/,
      /casella piena|переполнен/,
    ],
  ],
  [
    'throttled',
    [
      /too many (?:connections?|concurrent|sessions?|smtp sessions|emails?|mails?|recipients|requests)/,
      /too many (?:errors from|messages? (?:from|per|sent))|maximum (?:number of )?connections/,
      /too fast|slow down|try again slower|rate.?limit|sending rate|throttl|limit exceeded for ip/,
      /at a rate that|receiving mail too quickly|exceeded the (?:max|rate)|connection (?:rate|frequency) limit/,
      /trop de connexions|numerous attempts to deliver|volume or user complaints/,
    ],
  ],
  // About the sender or its server: "address" and "domain" in these texts do not refer to the recipient.
  [
    'policy',
    [
      /\b(?:dns|r)bls?\b|block ?list|black ?list|spamhaus|spamcop|barracudacentral|abuseat|sorbs|senderbase/,
      /proofpoint\.com|\breputation\b|(?<!not )listed (?:in|at|on|by) |unsolicited|open (?:proxy|relay)/,
      /(?:client|sender|your) host (?:\S+ )?(?:rejected|blocked)|smtp server of your isp|mail server of your isp/,
      /\bspf\b|\bdkim\b|\bdmarc\b|unauthenticated|not authenticated/,
      /authenticat(?:ion|e)(?: is)? (?:required|first|failed)|starttls|(?:tls|encryption) (?:is )?(?:required|needed)/,
      /reverse dns|\bptr\b|rdns|reverse (?:lookup|host ?name)|generic (?:dns|ptr|rdns)|dynamic ip/,
      /cannot find your (?:reverse )?host ?name|cannot resolve your|unresolvable relay|name lookup failed/,
      /relay(?:ing)? (?:is )?(?:access )?(?:denied|not|prohibit)|relaying|relay access|mail relay|unable to relay/,
      /not (?:allowed|permitted|authori[sz]ed) to relay|isn.t allowed to be relayed|configured to relay/,
      /allowed rcpthosts|not a gateway|must issue/,
      /sender (?:(?:email )?address |domain |is |was )?(?:rejected|denied|blocked|failed|not|spammer|refused|unknown)/,
      /sender verif|(?:invalid|bad|unroutable|empty|null) sender|sender (?:domain|invalid)|domain of sender/,
      /empty envelope sender|bogus mail from|envelope blocked|mail from (?:address )?(?:must|not owned)/,
      /from: domain|no mx record for (?:from|sender)|\bemetteur invalide|does not exist e2110|originator/,
      /returned mail not accepted|third-party dsn|batv|backscatter|unsigned dsn/,
      /invalid ip for sending|ip (?:address )?\S+ (?:is )?(?:blocked|not allowed|rejected)|access from ip|go away/,
      /blocked (?:for|by|due|using|because)|is blocked|has been blocked|temporar(?:y|ily) blocked/,
      // Yahoo for 5.7.9, and Amazon SES of the sender's own identities.
      /did(?: not|n.t) like our final data|address(?:es)? (?:is|are) not verified|identities failed the check/,
      /recipient preferences|only accepting|only accepts|protected by/,
    ],
  ],
  [
    'content',
    [
      /\bspam\b|\bspammy\b|junk mail|\bube\b|\buce\b|bulk (?:e-?)?mail|virus|malware|phish|infected|trojan/,
      /content (?:filter|rejected|denied|not|restriction|is not)|(?:mail|message|unacceptable|banned) content/,
      /message (?:content )?(?:filtered|refused|looks|rejected due to)|uribl|surbl|banned (?:file|name)/,
      /attachment.{0,24}(?:not|block|forbid|prohibit|remov)|[45]\.7\.0 reject, id|considered (?:un|as )/,
      /pattern detection|mail rejete|rejected for policy|possible forgery|improper use of 8-bit/,
      /header (?:is )?(?:missing|invalid|error)|duplicate header|multiple from|missing (?:date|from|message-id)/,
      /rfc ?(?:2822|5322|1035) |not (?:rfc|compliant)/,
    ],
  ],
  [
    'too_large',
    [
      near('(?:message|mail|content|file)(?: \\S+)?', 'too (?:big|large|long)|length exceed|size (?:exceed|is)', 4),
      /(?:message|mail|content|file)(?: \S+)? (?:is )?exceeds (?:the )?(?:max|size|fixed|limit)|message size/,
      /size limit|maximum (?:message |mail )?size|exceeds administrative limit|exceeded max(?:imum)? message/,
      /too (?:big|large) for/,
    ],
  ],
  [
    'no_mail_taken',
    [
      /null ?mx|does not accept (?:any )?(?:e-?)?mail|not accepting (?:network )?(?:messages|mail)/,
      /mx or srv record indicated no smtp service/,
      /no mail (?:is )?accepted|name server: \.: host not found/,
    ],
  ],
  [
    'disabled',
    [
      near('account|mail ?box|user|recipient|address|casilla|inbox', OFF, 40),
      /(?:inactive|disabled) (?:user|account|mailbox|recipient)|invalid\/inactive|extended inactivity/,
      /suspend the service|is a deactivated|no longer active/,
    ],
  ],
  [
    'no_such_user',
    [
      near(`(?:${WHO})s?\\b`, GONE, 48),
      new RegExp(`(?:${NONE}) (?:\\S+ )?${NOBODY}`),
      /recipient (?:\S+ )?address(?:es)? rejected ?(?::? ?(?:access denied|invalid|unknown|undeliverable)|\.?$)/,
      /address(?:es)? rejected\.? ?\(in reply to rcpt|address rejected$|addresses rejected ?: access denied/,
      /recipient ?not ?found|user ?unknown|nosuchuser|badrcptto|badrecipientto|validrcptto|rcpt.{0,80}not found/,
      /rcpt.{0,80}does not exist|not found by smtp address lookup|no one at this address|isn.t a user/,
      /user (?:doesn.t|does not) have|doesn.t have an? \S+ account|no mailbox here|mailbox unavailable/,
      /not (?:a )?(?:valid|known|local|active|our) (?:recipient|user|mailbox|customer|address|subscriber)/,
      /not my (?:user|customer)|no thank you|> not found|envelope recipient|missing home directory|name directory/,
      /mail address is not|directory entry|not listed in|address error|recipients? (?:was|were|are) undeliverable/,
      /destination mailbox|no valid recipients|recipient name is not recognized|illegal alias|could(?: not|n.t) be found/,
      /no existe|nessun utente|utilisateur inconnu|unbekannt|nicht bekannt|onbekend|неизвестн|не найден/,
      /不存在|見つかりません|リストにありません/,
    ],
  ],
  [
    'no_such_domain',
    [
      /(?:host|domain|server)(?: or domain)?(?: name)?(?: \S+)?(?: is| was)? (?:unknown|not found|not resolved)/,
      /(?:host|domain|server)(?: name)?(?: \S+)?(?: is| was)? (?:does not exist|doesn.t exist|must exist)/,
      /(?:host|domain)(?: \S+)? (?:is not reachable|can.?t be found)|(?:^|\s)[\w-]+(?:\.[\w-]+)+ does not exist/,
      /(?:unknown|no such|invalid|non-?existent|bad|illegal|unresolvable) (?:\S+ )?(?:host|domain)/,
      /unroute?able|no route for|nxdomain|no mx (?:record|found|or)|no (?:mail )?exchanger|find a mail exchanger/,
      /couldn.t find (?:any|a) (?:host|mail exchanger)|name or service not known|mail domain mentioned/,
      /all relevant mx records point to non-existent/,
    ],
  ],
  [
    'expired',
    [
      /expired|timed?[- ]?out exceeded|retry time|too long|giving up|given up|has been in the queue/,
      /queued? (?:life ?time|period|time)|could not (?:be )?deliver(?:ed)? for|not been collected/,
      /delivery (?:time|retry)|undelivered (?:for|after)|unable to deliver in/,
    ],
  ],
  [
    'dns',
    [
      /dns (?:lookup|server|query|error|fail)|name service error|name ?server|host name lookup failure/,
      /domain lookup|name lookup|resolver? (?:error|fail)|servfail|lookup (?:fail|error)/,
    ],
  ],
  [
    'network',
    [
      /connect(?:ion)?\b.{0,40}(?:timed out|time-?out|refused|reset|lost|dropped|closed|fail|error|abort)/,
      /no route to host|network (?:is )?unreachable|host (?:is )?(?:not reachable|unreachable|down)|timed out/,
      /time-?out|could ?n.t (?:connect|establish)|establish an smtp connection|unable to (?:connect|contact)/,
      /not accept our requests to connect|socket error|did not respond|not responding|lost connection/,
      /conversation with|server is down|not answer|no answer/,
    ],
  ],
  [
    'refused',
    [
      /denied|refused|prohibit|not (?:allowed|permitted|authori[sz]ed|accepted)|polic(?:y|ies)|violat|forbidden/,
      /reject|blocked|insecure|restricted|only accept|prevents|does not like|complain|must have a|unverif/,
      /not a member|permission/,
    ],
  ],
  [
    'server',
    [
      /system (?:error|full|resources|not|fail|config|is )|internal (?:error|system|server)|local error/,
      /config(?:uration)? error|insufficient (?:system|disk)|out of memory|disk full|no space left/,
      /temporar|try (?:again|later)|mailer error|loop|too many hops|hop count|unexpected|failed to/,
      /cannot (?:open|append|execute)|can.t (?:create|open)|service (?:unavailable|not available)/,
      /exit(?:ed)? (?:with )?(?:status|code)/,
    ],
  ],
]

/** The cause a text names; null when it contains no known phrase. */
export function findPhrase(text: string): RefusalCause | null {
  const plain = text.slice(0, PHRASE_TEXT_MAX).replace(/\s+/g, ' ').toLowerCase().replace(WRAPPER, '').trim()
  return PHRASES.find(([, patterns]) => patterns.some((pattern) => pattern.test(plain)))?.[0] ?? null
}
