import type { PageTexts } from '#api/share-links/page/page-texts.ts';

export const chinese: PageTexts = {
  heading: '安装您的 eSIM',
  languages: '语言',
  alreadyInstalled: '此 eSIM 已安装在一部手机上。大多数 eSIM 只能安装一次。',
  before: {
    heading: '开始之前',
    steps: [
      '将手机连接到 Wi-Fi。',
      '确认手机支持 eSIM，且未锁定到其他运营商。',
      '请只安装一次，不要删除：大多数 eSIM 无法再次安装。',
    ],
  },
  oneTap: {
    heading: '在这部手机上安装',
    ios: '在 iPhone 上安装',
    android: '在 Android 上安装',
    hint: '适用于 iOS 17.4 或更高版本的 iPhone 和较新的 Android 手机。如果没有反应，请使用下方的二维码或代码。',
  },
  scan: {
    heading: '扫描二维码',
    alt: '包含 eSIM 激活码的二维码',
    hint: '在另一个屏幕上显示或打印此页面，然后用要使用 eSIM 的手机扫描二维码。',
  },
  manual: {
    heading: '手动输入代码',
    smdpAddress: 'SM-DP+ 地址',
    activationCode: '激活码',
    completeCode: '完整代码（用于 Android）',
    confirmation: '手机还会要求输入确认码。确认码由出售此 eSIM 的商店提供。',
  },
  ios: {
    heading: 'iPhone 上的步骤',
    steps: [
      '打开“设置”›“蜂窝网络”›“添加 eSIM”。',
      '选择“使用二维码”并扫描。如需输入代码，请选择“手动输入详细信息”。',
      '选择“继续”，等待 eSIM 激活。',
    ],
  },
  android: {
    heading: 'Android 手机上的步骤',
    steps: [
      '打开“设置”›“网络和互联网”（或“连接”）›“SIM 卡”›“添加 eSIM”。',
      '扫描二维码。如需输入代码，请选择手动输入并使用完整代码。',
      '确认并启用 eSIM。',
    ],
  },
  afterwards: {
    heading: '到达目的地后',
    steps: ['启用 eSIM，并将其选为移动数据卡。', '为此 eSIM 打开数据漫游。'],
  },
  availableUntil: '此页面可打开至',
  keepPrivate: '请勿分享此页面：任何打开它的人都可以安装此 eSIM。',
  preview: { text: '此页面包含您的 eSIM 代码。', open: '显示我的 eSIM' },
  cancelled: { heading: '此 eSIM 已取消', text: '它无法再安装。如有疑问，请联系出售它的商店。' },
  expired: { heading: '此 eSIM 已过期', text: '有效期已结束，无法再安装。出售它的商店可以为您提供新的 eSIM。' },
  gone: { heading: '此页面不可用', text: '链接不完整或已失效。请向发送链接的商店索取新链接。' },
  tooMany: { heading: '请求过多', text: '您的网络打开此页面的次数过多。请等待一分钟后重新加载。' },
  unavailable: { heading: '暂时无法显示此页面', text: '您的 eSIM 不受影响。请在一分钟后重新加载页面。' },
};
