// Which elements and attributes of a message its document keeps.

const words = (text: string): Set<string> => new Set(text.split(' '))

/** Elements that are written; others leave their content behind. */
export const WRITTEN = words(
  'a abbr acronym address area article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del details dfn dir ' +
    'div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main map mark menu nav ol p pre q ' +
    'rp rt ruby s samp section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr nobr',
)
/** Elements that go with everything in them. */
export const DROPPED = words(
  'script noscript template iframe frame object embed applet svg math canvas audio video select textarea dialog title style',
)
/** Parts of a table, inside which nothing else may begin. */
export const TABLE_PARTS = words('table thead tbody tfoot tr colgroup')

/** Attributes that are written as they are. */
const KEPT = words(
  'class dir lang align valign width height border cellpadding cellspacing colspan rowspan alt title color face size start ' +
    'type value reversed hspace vspace nowrap span scope clear noshade compact open shape coords datetime bgcolor',
)
/** Ids and references to them, which get a prefix. */
const IDS = words('id name usemap')
const VALUE_MAX = 4096

export type AttributeKind = 'kept' | 'id' | null

/** @param tag `name` is an id of an anchor or a map only */
export function attributeKind(tag: string, name: string): AttributeKind {
  // The title of a link says where it leads, which the sender does not decide.
  if (name === 'title' && (tag === 'a' || tag === 'area')) return null
  if (IDS.has(name)) return name === 'name' && tag !== 'a' && tag !== 'map' ? null : 'id'
  return KEPT.has(name) || /^aria-(?:label|hidden)$/.test(name) ? 'kept' : null
}

/** Whether a value is written; longer ones are not. */
export function isShort(value: string): boolean {
  return value.length <= VALUE_MAX
}
