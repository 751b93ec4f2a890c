// SPF by RFC 7208, in zones of our own: each case names the section it is about.

/** Records of a name: `TIMEOUT` is asked of a server that is silent. */
type Entry = string | Record<string, unknown>

export interface SpfSuite {
  description: string
  zonedata: Record<string, Entry[]>
  tests: Record<string, { helo: string; host: string; mailfrom: string; result: string | string[] }>
}

const HOST = '192.0.2.10'
const HOST6 = '2001:db8::10'

/** A zone of policies by name, and who asks: `name` sends from {@link HOST} unless it says otherwise. */
function suite(
  description: string,
  zonedata: Record<string, Entry[]>,
  cases: [section: string, name: string, result: string | string[], host?: string, mailfrom?: string][],
): SpfSuite {
  const tests = cases.map(([section, name, result, host = HOST, mailfrom = `ann@${name}`], index) => [
    `§${section}: ${mailfrom || name} from ${host} (${index + 1})`,
    { helo: name, host, mailfrom, result },
  ])
  return { description, zonedata, tests: Object.fromEntries(tests) }
}

const policy = (text: string): Entry[] => [{ TXT: text }]
const many = (count: number, of: (n: number) => string) => Array.from({ length: count }, (_, n) => of(n)).join(' ')
const chain = (length: number): Record<string, Entry[]> =>
  Object.fromEntries(
    Array.from({ length: length + 1 }, (_, n) => [
      `c${n}.chain${length}.test`,
      policy(n === length ? 'v=spf1 +all' : `v=spf1 include:c${n + 1}.chain${length}.test -all`),
    ]),
  )

export const SPF: readonly SpfSuite[] = [
  suite(
    'records',
    {
      'none.test': [{ TXT: 'no policy' }],
      'empty.test': policy('v=spf1'),
      'two.test': [{ TXT: 'v=spf1 +all' }, { TXT: 'v=spf1 -all' }],
      'upper.test': policy('V=SPF1 +ALL'),
      'longer.test': policy('v=spf10 -all'),
      'pieces.test': [{ TXT: ['v=spf1 ip4:192.0.', '2.10 -all'] }],
      'spaces.test': policy('v=spf1   ip4:192.0.2.10    -all'),
      'silent.test': ['TIMEOUT'],
    },
    [
      ['4.3', 'no-record.test', 'none'],
      ['4.3', 'one_label', 'none', HOST, ''],
      ['4.4', 'silent.test', 'temperror'],
      ['4.5', 'none.test', 'none'],
      ['4.5', 'longer.test', 'none'],
      ['4.5', 'two.test', 'permerror'],
      ['4.6.1', 'upper.test', 'pass'],
      ['4.7', 'empty.test', 'neutral'],
      ['3.3', 'pieces.test', 'pass'],
      ['4.6.1', 'spaces.test', 'pass'],
      ['2.4', 'upper.test', 'pass', HOST, ''],
    ],
  ),
  suite(
    'qualifiers and mechanisms',
    {
      'fail.test': policy('v=spf1 -all'),
      'soft.test': policy('v=spf1 ~all'),
      'neutral.test': policy('v=spf1 ?all'),
      'first.test': policy('v=spf1 ?ip4:192.0.2.10 -ip4:192.0.2.0/24 +all'),
      'net.test': policy('v=spf1 ip4:192.0.2.0/28 -all'),
      'six.test': policy('v=spf1 ip6:2001:db8::/32 -all'),
      'a.test': [{ TXT: 'v=spf1 a -all' }, { A: HOST }, { AAAA: HOST6 }],
      'a-net.test': [{ TXT: 'v=spf1 a/24//64 -all' }, { A: '192.0.2.200' }, { AAAA: '2001:db8::ffff' }],
      'a-other.test': policy('v=spf1 a:a.test -all'),
      'mx.test': [{ TXT: 'v=spf1 mx -all' }, { MX: [10, 'a.test'] }],
      'mx-none.test': policy('v=spf1 mx -all'),
      'mx-eleven.test': [
        { TXT: 'v=spf1 mx -all' },
        ...Array.from({ length: 11 }, (_, n) => ({ MX: [n, `h${n}.test`] })),
      ],
      'ptr.test': policy('v=spf1 ptr -all'),
      '10.2.0.192.in-addr.arpa': [{ PTR: 'mail.ptr.test' }],
      'mail.ptr.test': [{ A: HOST }],
      'ptr-liar.test': policy('v=spf1 ptr:liar.test -all'),
      'exists.test': policy('v=spf1 exists:%{ir}.%{l}.%{d2}.list.test -all'),
      '10.2.0.192.ann.exists.test.list.test': [{ A: '127.0.0.2' }],
    },
    [
      ['2.6.4', 'fail.test', 'fail'],
      ['2.6.5', 'soft.test', 'softfail'],
      ['2.6.2', 'neutral.test', 'neutral'],
      ['4.6.2', 'first.test', 'neutral'],
      ['4.6.2', 'first.test', 'fail', '192.0.2.11'],
      ['4.6.2', 'first.test', 'pass', '198.51.100.1'],
      ['5.6', 'net.test', 'pass', '192.0.2.15'],
      ['5.6', 'net.test', 'fail', '192.0.2.16'],
      ['5.6', 'six.test', 'pass', HOST6],
      ['5.6', 'six.test', 'fail', HOST],
      ['5.3', 'a.test', 'pass'],
      ['5.3', 'a.test', 'pass', HOST6],
      ['5.3', 'a.test', 'fail', '192.0.2.11'],
      ['5.3', 'a-net.test', 'pass'],
      ['5.3', 'a-net.test', 'pass', HOST6],
      ['5.3', 'a-net.test', 'fail', '192.0.3.10'],
      ['5.3', 'a-other.test', 'pass'],
      ['5.4', 'mx.test', 'pass'],
      ['5.4', 'mx-none.test', 'fail'],
      ['4.6.4', 'mx-eleven.test', 'permerror'],
      ['5.5', 'ptr.test', 'pass'],
      ['5.5', 'ptr.test', 'fail', '192.0.2.11'],
      ['5.5', 'ptr-liar.test', 'fail'],
      ['5.7', 'exists.test', 'pass'],
      ['5.7', 'exists.test', 'fail', HOST, 'eve@exists.test'],
    ],
  ),
  suite(
    'include and redirect',
    {
      'ours.test': policy('v=spf1 ip4:192.0.2.10 -all'),
      'include.test': policy('v=spf1 include:ours.test ~all'),
      'include-none.test': policy('v=spf1 include:no-record.test -all'),
      'include-broken.test': policy('v=spf1 include:broken.test +all'),
      'broken.test': policy('v=spf1 ip4:300.0.0.1 -all'),
      'include-silent.test': policy('v=spf1 include:silent.test -all'),
      'silent.test': ['TIMEOUT'],
      'redirect.test': policy('v=spf1 redirect=ours.test'),
      'redirect-behind-all.test': policy('v=spf1 redirect=ours.test ?all'),
      'redirect-none.test': policy('v=spf1 redirect=no-record.test'),
      'redirect-twice.test': policy('v=spf1 redirect=ours.test redirect=ours.test'),
    },
    [
      ['5.2', 'include.test', 'pass'],
      ['5.2', 'include.test', 'softfail', '192.0.2.11'],
      ['5.2', 'include-none.test', 'permerror'],
      ['5.2', 'include-broken.test', 'permerror'],
      ['5.2', 'include-silent.test', 'temperror'],
      ['6.1', 'redirect.test', 'pass'],
      ['6.1', 'redirect.test', 'fail', '192.0.2.11'],
      ['6.1', 'redirect-behind-all.test', 'neutral'],
      ['6.1', 'redirect-none.test', 'permerror'],
      ['6', 'redirect-twice.test', 'permerror'],
    ],
  ),
  suite(
    'syntax',
    {
      'word.test': policy('v=spf1 nonsense -all'),
      'number.test': policy('v=spf1 ip4:192.0.2.300 -all'),
      'mask.test': policy('v=spf1 ip4:192.0.2.0/33 -all'),
      'mask-zero.test': policy('v=spf1 ip4:0.0.0.0/0 -all'),
      'six-in-four.test': policy('v=spf1 ip4:2001:db8::1 -all'),
      'all-argument.test': policy('v=spf1 all:x.test'),
      'include-empty.test': policy('v=spf1 include: -all'),
      'behind-all.test': policy('v=spf1 -all nonsense'),
      'unknown-modifier.test': policy('v=spf1 colour=blue ip4:192.0.2.10 -all'),
      'macro.test': policy('v=spf1 exists:%{z}.x.test -all'),
      'percent.test': policy('v=spf1 exists:100%.x.test -all'),
      'exp.test': policy('v=spf1 -all exp=why.test'),
      'exp-twice.test': policy('v=spf1 -all exp=why.test exp=why.test'),
    },
    [
      ['4.6.1', 'word.test', 'permerror'],
      ['5.6', 'number.test', 'permerror'],
      ['5.6', 'mask.test', 'permerror'],
      ['5.6', 'mask-zero.test', 'pass'],
      ['5.6', 'six-in-four.test', 'permerror'],
      ['5.1', 'all-argument.test', 'permerror'],
      ['5.2', 'include-empty.test', 'permerror'],
      ['4.6', 'behind-all.test', 'permerror'],
      ['6', 'unknown-modifier.test', 'pass'],
      ['7.1', 'macro.test', 'permerror'],
      ['7.1', 'percent.test', 'permerror'],
      ['6.2', 'exp.test', 'fail'],
      ['6', 'exp-twice.test', 'permerror'],
    ],
  ),
  suite(
    'limits',
    {
      ...chain(9),
      ...chain(10),
      ...chain(11),
      'ten.test': policy(`v=spf1 ${many(10, (n) => `a:there${n}.test`)} -all`),
      'eleven.test': policy(`v=spf1 ${many(11, (n) => `a:there${n}.test`)} -all`),
      ...Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`there${n}.test`, [{ A: '198.51.100.1' }]])),
      'void-two.test': policy('v=spf1 a:gone1.test a:gone2.test ip4:192.0.2.10 -all'),
      'void-three.test': policy('v=spf1 a:gone1.test a:gone2.test a:gone3.test ip4:192.0.2.10 -all'),
      'itself.test': policy('v=spf1 include:itself.test -all'),
      'round.test': policy('v=spf1 redirect=round.test'),
    },
    [
      ['4.6.4', 'c0.chain9.test', 'pass'],
      ['4.6.4', 'c0.chain10.test', 'pass'],
      ['4.6.4', 'c0.chain11.test', 'permerror'],
      ['4.6.4', 'ten.test', 'fail'],
      ['4.6.4', 'eleven.test', 'permerror'],
      ['4.6.4', 'void-two.test', 'pass'],
      ['4.6.4', 'void-three.test', 'permerror'],
      ['4.6.4', 'itself.test', 'permerror'],
      ['4.6.4', 'round.test', 'permerror'],
    ],
  ),
]
