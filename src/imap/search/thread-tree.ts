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
  /** Changed by {@link addChild} only. */
  children: readonly ThreadNode[]
}

/** Most messages have no children: they share this list. */
const NO_CHILDREN: readonly ThreadNode[] = []

type NodeMessage = Pick<ThreadNode, 'number' | 'date' | 'subject' | 'isReply'>

/** @param order position of the message among those of the command */
export function newNode({ number, date, subject, isReply }: NodeMessage, order: number): ThreadNode {
  return { number, order, date, subject, isReply, parent: null, children: NO_CHILDREN }
}

const DUMMY: NodeMessage = { number: 0, date: 0, subject: '', isReply: false }

export function newDummy(): ThreadNode {
  return newNode(DUMMY, 0)
}

export function addChild(parent: ThreadNode, child: ThreadNode): void {
  if (parent.children === NO_CHILDREN) parent.children = [child]
  else (parent.children as ThreadNode[]).push(child)
}

/** The subject of a thread: that of its first message, which a dummy does not have itself. */
export function threadSubject(node: ThreadNode): { subject: string; isReply: boolean } {
  return node.number === 0 && node.children.length > 0 ? node.children[0]! : node
}

/** By sent date, then by the order of the mailbox (RFC 5256 §2.2). */
function compareNodes(a: ThreadNode, b: ThreadNode): number {
  return a.date - b.date || a.order - b.order
}

/** Siblings in order; dummies among them by their first child, after their own children. */
export function sortSiblings(nodes: readonly ThreadNode[]): readonly ThreadNode[] {
  for (const node of nodes) {
    if (node.number !== 0) continue
    node.children = inOrder(node.children)
    const [first] = node.children
    if (first) [node.date, node.order] = [first.date, first.order]
  }
  return inOrder(nodes)
}

function inOrder(nodes: readonly ThreadNode[]): readonly ThreadNode[] {
  return nodes.length < 2 ? nodes : nodes.toSorted(compareNodes)
}

/** Sorts every set of siblings, the innermost first, since a dummy is sorted by its first child. */
export function sortForest(roots: readonly ThreadNode[]): readonly ThreadNode[] {
  for (const node of parentsFrom(roots).reverse()) node.children = sortSiblings(node.children)
  return sortSiblings(roots)
}

/** The nodes with children, each before those below it. */
export function parentsFrom(roots: readonly ThreadNode[]): ThreadNode[] {
  const parents = roots.filter(({ children }) => children.length > 0)
  for (let at = 0; at < parents.length; at++)
    for (const child of parents[at]!.children) if (child.children.length > 0) parents.push(child)
  return parents
}

/** The threads as THREAD writes them: `(2)(3 6 (4 23)(44 7 96))`. */
export function formatThreads(roots: readonly ThreadNode[]): string {
  let text = ''
  for (const root of roots) {
    if (root.children.length === 0) text += root.number === 0 ? '()' : `(${root.number})`
    else text += formatThread(root)
  }
  return text
}

function formatThread(root: ThreadNode): string {
  const text: string[] = []
  /** What is still to write, the next at the end. */
  const stack: (ThreadNode | ')')[] = [')', root]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next === ')') text.push(')')
    else {
      text.push('(')
      const { children } = writeChain(next, text)
      for (let at = children.length - 1; at >= 0; at--) stack.push(')', children[at]!)
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
