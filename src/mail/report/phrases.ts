// What servers say when they turn mail away, in the words they use: the well-known texts, and what each means.

/** Why a mail was turned away, as far as codes and words tell. */
export type Finding =
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
  /** Turned away, and nothing more is said. */
  | 'refused'

const words = (...alternatives: string[]): RegExp => new RegExp(alternatives.join('|'))

/**
 * In the order in which they decide: a text that names a full mailbox and an unknown user tells of the full mailbox. Every
 * pattern is tried on lower-case text with single spaces; none has a repetition inside a repetition, so each is linear.
 */
const PHRASES: readonly (readonly [Finding, RegExp])[] = [
  [
    'suppressed',
    words(
      'suppression list',
      'previously bounced',
      'bounced address',
      'recipient is suppressed',
      'unsubscribed address',
      'address is on (?:our|the) (?:bounce|block) list',
    ),
  ],
  // What sounds like more than one thing, and means the first of them here.
  ['no_such_domain', words('account or domain may not exist')],
  ['dns', words('not found, try again', 'temporary (?:dns|lookup)')],
  ['greylisted', words('gr[ae]y-?list', 'postgrey', 'please try again in \\d+ (?:s|m)', 'try again in \\d+ seconds')],
  [
    'mailbox_full',
    words(
      '(?:mail ?box|inbox|mailfolder|maildir|mail file|mail store|storage|disk|account|user|message store).{0,40}(?:\\bfull\\b|quota|exceed|overdrawn|used up)',
      '(?:over|exceed(?:s|ed|ing)?|out of|beyond).{0,24}(?:quota|storage|disk space|mailbox size)',
      'quota.{0,24}(?:exceed|violation|full|reached|over)',
      'full mailbox|mailbox would exceed|not enough (?:storage )?space|does not have enough space',
      'too many messages on the server|too much mail data',
      'bo[iî]te (?:aux lettres |du destinataire )?pleine|postfach.{0,20}voll|casilla.{0,24}(?:llena|agotad)|casella piena',
      'переполнен|mailsize limit|receiving limits',
    ),
  ],
  [
    'throttled',
    words(
      'too many (?:connections?|concurrent|sessions?|smtp sessions|emails?|mails?|messages? (?:from|per|sent)|recipients|errors from|requests)',
      'too fast|slow down|try again slower|rate.?limit|sending rate|throttl',
      'at a rate that|receiving mail too quickly|exceeded the (?:max|rate)|connection (?:rate|frequency) limit|limit exceeded for ip',
      'trop de connexions|numerous attempts to deliver|volume or user complaints|maximum (?:number of )?connections',
    ),
  ],
  // The sender or its server: whatever these say about "addresses" and "domains" is not about the recipient.
  [
    'policy',
    words(
      '\\b(?:dns|r)bls?\\b|block ?list|black ?list|spamhaus|spamcop|barracudacentral|abuseat|sorbs|proofpoint\\.com|senderbase|\\breputation\\b|(?<!not )listed (?:in|at|on|by) ',
      '(?:client|sender|your) host (?:\\S+ )?(?:rejected|blocked)|unsolicited|\\bspf\\b|\\bdkim\\b|\\bdmarc\\b|unauthenticated|not authenticated|authenticat(?:ion|e)(?: is)? (?:required|first|failed)',
      'reverse dns|\\bptr\\b|rdns|reverse (?:lookup|host ?name)|cannot find your (?:reverse )?host ?name|cannot resolve your|unresolvable relay|name lookup failed|dynamic ip|generic (?:dns|ptr|rdns)|no mx record for (?:from|sender)',
      'relay(?:ing)? (?:is )?(?:access )?(?:denied|not|prohibit)|not (?:allowed|permitted|authori[sz]ed) to relay|relaying|relay (?:not|access)|mail relay|unable to relay|isn.t allowed to be relayed|allowed rcpthosts|not a gateway|configured to relay|open (?:proxy|relay)',
      'sender (?:address |domain |email address |verify |is |was )?(?:rejected|denied|blocked|failed|not|spammer|refused|unknown|invalid|blocked)|sender verif|invalid sender|bad sender|bogus mail from|unroutable sender|envelope blocked|mail from (?:address )?(?:must|not owned)|domain of sender|sender domain|from: domain|\\bemetteur invalide|does not exist e2110|sender not|originator',
      'empty (?:envelope )?sender|null sender|returned mail not accepted|third-party dsn|batv|backscatter|unsigned dsn',
      'smtp server of your isp|mail server of your isp|invalid ip for sending|ip (?:address )?\\S+ (?:is )?(?:blocked|not allowed|rejected)|blocked (?:for|by|due|using|because)|is blocked|access from ip|has been blocked|temporar(?:y|ily) blocked|go away',
      'recipient preferences|blocked by the recipient|only accepting|only accepts|protected by|starttls|must issue|tls (?:is )?required|encryption (?:is )?(?:required|needed)',
    ),
  ],
  [
    'content',
    words(
      '\\bspam\\b|\\bspammy\\b|junk mail|\\bube\\b|\\buce\\b|bulk (?:e-?)?mail|virus|malware|phish|infected|trojan',
      'content (?:filter|rejected|denied|not|restriction|is not)|(?:mail|message|unacceptable|rejecting mail|banned) content|message (?:content )?(?:filtered|refused|looks|rejected due to)|uribl|surbl|banned (?:file|name)|attachment.{0,24}(?:not|block|forbid|prohibit|remov)',
      '(?:5|4)\\.7\\.0 reject, id|considered (?:un|as )|pattern detection|mail rejete|rejected for policy|possible forgery',
      'header (?:is )?(?:missing|invalid|error)|rfc ?(?:2822|5322|1035) |not (?:rfc|compliant)|duplicate header|multiple from|improper use of 8-bit|missing (?:date|from|message-id)',
    ),
  ],
  [
    'too_large',
    words(
      '(?:message|mail|e-?mail|content|file)(?: \\S+)? (?:is )?(?:too (?:big|large|long)|size (?:exceed|limit|is)|length exceed|exceeds (?:the )?(?:max|size|fixed|limit))|size limit|maximum (?:message |mail )?size|message size|exceeds administrative limit|exceeded max(?:imum)? message|too (?:big|large) for',
    ),
  ],
  [
    'no_mail_taken',
    words(
      'null mx|does not accept (?:any )?(?:e-?)?mail|not accepting (?:network )?(?:messages|mail)|no mail (?:is )?accepted|nullmx|name server: \\.: host not found',
    ),
  ],
  [
    'disabled',
    words(
      '(?:account|mailbox|user|recipient|address|casilla|mail box|inbox).{0,40}(?:disabled|discontinued|suspend|deactivat|locked|frozen|inactiv|not active|expirad|terminated|closed|archiv)',
      'inactive (?:user|account|mailbox|recipient)|invalid/inactive|disabled (?:user|account|mailbox|recipient)|extended inactivity|suspend the service|is a deactivated|no longer active',
    ),
  ],
  [
    'no_such_user',
    words(
      '(?:user|recipient|mail ?box|address|account|addressee|alias|local ?part|person|subscriber|spectator|destinataire|destination|domain or user|mail address|userid|id)s?\\b.{0,48}(?:unknown|not (?:be )?found|not known|does ?n.t exist|does not exist|not exist|not listed|non-?exist|no longer (?:valid|accept|exist|in use|available|here|with|works)|unavailable|unavaiable|not available|invalid|not valid|is not a|not present|not recogni[sz]ed|not local|not here|not accepted|not ok|illegal|has been replaced|has moved|wrong|refuses to accept|inconnu|not registered|isn.t in|t exist)',
      '(?:unknown|invalid|no such|no valid|bad|non-?existent|illegal|not a valid|not a known|no|undeliverable|unknown or illegal|unrecogni[sz]ed|not our|wrong) (?:\\S+ )?(?:user|recipient|mail ?box|address|account|alias|local ?part|person|addressee|customer|subscriber|rcpt|e-?mail address|destination mailbox|destination address|final delivery userid)',
      'recipient (?:\\S+ )?address(?:es)? rejected ?(?:: access denied|: invalid|: unknown|: undeliverable|\\.? ?\\(in reply to rcpt|\\.?$)|address rejected$|addresses rejected ?: access denied',
      'recipient ?not ?found|user ?unknown|userunknown|badrcptto|badrecipientto|validrcptto|rcpt.{0,80}(?:does not exist|not found)|not found by smtp address lookup|no one at this address|isn.t a user|could not be found|no existe|nessun utente|utilisateur inconnu|unbekannt|nicht bekannt|onbekend|неизвестн|не найден|不存在|見つかりません|リストにありません',
      'user (?:doesn.t|does not) have|doesn.t have an? \\S+ account|no mailbox here|mailbox unavailable|not (?:a )?(?:valid|known|local|active|our) (?:recipient|user|mailbox|customer|address|subscriber)|not my (?:user|customer)|no thank you|> not found|envelope recipient|missing home directory|mail address is not|directory entry|name directory|address error|recipients? (?:was|were|are) undeliverable',
      'destination mailbox|no valid recipients|recipient name is not recognized|unroutable|illegal alias|not listed in',
    ),
  ],
  [
    'no_such_domain',
    words(
      '(?:host|domain|server)(?: name| or domain name)?(?: \\S+)?(?: (?:is|was))? (?:unknown|not found|not resolved|does not exist|doesn.t exist|must exist|is not reachable|can.?t be found)',
      '(?:unknown|no such|invalid|non-?existent|bad|illegal|unresolvable) (?:\\S+ )?(?:host|domain)|unrouteable|unroutable|no route for|nxdomain|no mx (?:record|found|or)|no (?:mail )?exchanger|couldn.t find (?:any|a) (?:host|mail exchanger)|find a mail exchanger|name or service not known|mail domain mentioned|(?:^|\\s)[\\w-]+(?:\\.[\\w-]+)+ does not exist|all relevant mx records point to non-existent',
    ),
  ],
  [
    'expired',
    words(
      'expired|time(?:d)?[- ]?out exceeded|retry time|too long|giving up|given up|has been in the queue|queue(?:d)? (?:life ?time|period|time)|could not (?:be )?deliver(?:ed)? for|not been collected|delivery (?:time|retry)|undelivered (?:for|after)|unable to deliver in',
    ),
  ],
  [
    'dns',
    words(
      'dns (?:lookup|server|query|error|fail)|name service error|name ?server|host name lookup failure|domain lookup|name lookup|resolver? (?:error|fail)|servfail|temporary lookup failure|lookup (?:fail|error)',
    ),
  ],
  [
    'network',
    words(
      'connect(?:ion)?\\b.{0,40}(?:timed out|time-?out|refused|reset|lost|dropped|closed|failed|fail|error|abort)|no route to host|network (?:is )?unreachable|host (?:is )?(?:not reachable|unreachable|down)|timed out|time-?out|could ?n.t (?:connect|establish)|establish an smtp connection|unable to (?:connect|contact)|not accept our requests to connect|socket error|did not respond|not responding|lost connection|conversation with|operation timed|server is down|not answer|no answer',
    ),
  ],
  [
    'refused',
    words(
      'access (?:is )?denied|denied|refused|prohibit|not (?:allowed|permitted|authori[sz]ed)|policy|polic(?:y|ies) (?:violation|reasons)|violat|forbidden|reject|blocked|insecure|restricted|not accepted|only accept|prevents|does not like|complain|must have a|unverif|not a member|permission',
    ),
  ],
  [
    'server',
    words(
      'system (?:error|full|resources|not|fail|config|is )|internal (?:error|system|server)|config(?:uration)? error|local error|insufficient (?:system|disk)|out of memory|disk full|no space left|temporar|try (?:again|later)|mailer error|loop|too many hops|hop count|unexpected|cannot (?:open|append|execute)|can.t (?:create|open)|service unavailable|service not available|exit(?:ed)? (?:with )?(?:status|code)|failed to',
    ),
  ],
]

/** What Cisco's gateways set in front of whatever another server said. */
const WRAPPER = /5\.1\.0 - unknown address error/

/** Characters of a text that are looked at. */
export const PHRASE_TEXT_MAX = 2000

/** What the words of a text say; null when they are none of the well-known ones. */
export function findPhrase(text: string): Finding | null {
  const plain = text.slice(0, PHRASE_TEXT_MAX).replace(/\s+/g, ' ').toLowerCase().replace(WRAPPER, '').trim()
  return PHRASES.find(([, pattern]) => pattern.test(plain))?.[0] ?? null
}
