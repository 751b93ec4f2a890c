// The forest that THREAD answers with (RFC 5256 §4): containers of messages, sorted and written without recursion.

/** A message, or a dummy for one that is only referred to. */
export interface ThreadNode {
  /** Sequence number or UID; 0 for a dummy. */
  number: number
  /** Position among the messages of the command: the order of messages of one date. */
  order: number
  /** Sent date, ms; that of a dummy is its first child's. */
  date: number
  /** Key of the base subject, "" for none. */
  subject: string
  isReply: boolean
  parent: ThreadNode | null
  children: ThreadNode[]
}

export function newDummy(): ThreadNode {
  return { number: 0, order: 0, date: 0, subject: '', isReply: false, parent: null, children: [] }
}

/** The subject of a thread: that of its first message, which a dummy does not have itself. */
export function threadSubject(node: ThreadNode): { subject: string; isReply: boolean } {
  return node.number === 0 && node.children.length > 0 ? node.children[0]! : node
}

/** By sent date, then by the order of the mailbox (RFC 5256 §2.2). */
function compareNodes(a: ThreadNode, b: ThreadNode): number {
  return a.date - b.date || a.order - b.order
}

/** Sorts these siblings; dummies among them by their first child, after their own children. */
export function sortSiblings(nodes: ThreadNode[]): ThreadNode[] {
  for (const node of nodes) {
    if (node.number !== 0) continue
    const first = node.children.sort(compareNodes)[0]
    if (first) [node.date, node.order] = [first.date, first.order]
  }
  return nodes.sort(compareNodes)
}

/** Sorts every set of siblings, the innermost first, since a dummy is sorted by its first child. */
export function sortForest(roots: ThreadNode[]): ThreadNode[] {
  const all: ThreadNode[] = [...roots]
  for (let at = 0; at < all.length; at++) for (const child of all[at]!.children) all.push(child)
  for (let at = all.length - 1; at >= 0; at--) sortSiblings(all[at]!.children)
  return sortSiblings(roots)
}

/** The threads as THREAD writes them: `(2)(3 6 (4 23)(44 7 96))`. */
export function formatThreads(roots: readonly ThreadNode[]): string {
  const text: string[] = []
  /** What is still to write, the next at the end. */
  const stack: (ThreadNode | ')')[] = []
  const pushAll = (nodes: readonly ThreadNode[]) => {
    for (let at = nodes.length - 1; at >= 0; at--) stack.push(')', nodes[at]!)
  }
  pushAll(roots)
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next === ')') text.push(')')
    else {
      text.push('(')
      const last = writeChain(next, text)
      pushAll(last.children)
    }
  }
  return text.join('')
}

/** Writes a message and its descendants while each is the only child; returns the last of them. */
function writeChain(first: ThreadNode, text: string[]): ThreadNode {
  let node = first
  let space = ''
  for (;;) {
    if (node.number !== 0) {
      text.push(space, String(node.number))
      space = ' '
    }
    if (node.children.length !== 1) break
    node = node.children[0]!
  }
  if (node.children.length > 0) text.push(space)
  return node
}
