// css-tree as one file: it loads in half the time and memory of its modules.

declare module 'css-tree/dist/csstree.esm' {
  export * from 'css-tree'
}
