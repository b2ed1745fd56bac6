import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const here = (path: string) => fileURLToPath(new URL('../node_modules/' + path, import.meta.url))

const repository = 'https://github.com/edict-dev/edict/blob/main/'

// The pages are those of docs/. What they link to elsewhere in the repository is shown
// in the repository.
export default defineConfig({
  title: 'Edict',
  description: 'A Kubernetes controller whose decisions are policy files',
  srcDir: '../docs',
  outDir: '../bin/site',
  cacheDir: '../bin/site-cache',
  cleanUrls: true,
  ignoreDeadLinks: [/^\.?\/?schema$/, './schema'],
  rewrites: { 'README.md': 'index.md', 'checks/README.md': 'checks/index.md', 'adr/README.md': 'adr/index.md', 'policies/README.md': 'policies/index.md' },
  markdown: {
    config(md) {
      const open = md.renderer.rules.link_open ?? ((tokens, i, options, _env, self) => self.renderToken(tokens, i, options))
      md.renderer.rules.link_open = (tokens, i, options, env, self) => {
        const href = tokens[i].attrGet('href') ?? ''
        const up = href.match(/^(?:\.\.\/)+(.*)$/)
        const depth = (env.relativePath ?? '').split('/').length
        if (up && href.split('../').length - 1 >= depth) tokens[i].attrSet('href', repository + up[1])
        return open(tokens, i, options, env, self)
      }
    },
  },
  // The pages are in another folder, from which vue would not be found.
  vite: { resolve: { alias: { 'vue/server-renderer': here('vue/server-renderer'), vue: here('vue') } } },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Cookbook', link: '/cookbook' },
      { text: 'Language', link: '/language' },
      { text: 'Operations', link: '/operations' },
    ],
    sidebar: [
      { text: 'Begin', items: [
        { text: 'A policy in fifteen minutes', link: '/tutorial' },
        { text: 'Cookbook', link: '/cookbook' },
        { text: 'Comparison', link: '/comparison' },
      ] },
      { text: 'Write policies', items: [
        { text: 'The language', link: '/language' },
        { text: 'Reference', link: '/reference' },
        { text: 'What check finds', link: '/checks/' },
        { text: 'Graph', link: '/graph' },
        { text: 'Small worlds', link: '/verify' },
        { text: 'Editors', link: '/editors' },
      ] },
      { text: 'Operate', items: [
        { text: 'Operations', link: '/operations' },
        { text: 'Before, why, after', link: '/questions' },
        { text: 'Explore decisions', link: '/explore' },
        { text: 'GitOps', link: '/gitops' },
        { text: 'Migrate', link: '/migration', collapsed: true, items: [
          { text: 'rsp-controller', link: '/migration/storage-pool-eligibility' },
          { text: 'node-controller', link: '/migration/agent-node-label' },
          { text: 'rvr-scheduling-controller', link: '/migration/replica-scheduling' },
          { text: 'Kernel modules', link: '/migration/kernel-modules' },
          { text: 'Restarts', link: '/migration/config-restarts' },
        ] },
        { text: 'The shipped policies', link: '/policies/' },
        { text: 'Reliability', link: '/reliability' },
        { text: 'Performance', link: '/performance' },
      ] },
      { text: 'Develop', items: [
        { text: 'Extend', link: '/extending' },
        { text: 'Decisions', link: '/adr/' },
      ] },
    ],
  },
})
