import type { PageTexts } from '#api/share-links/page/page-texts.ts';

export const english: PageTexts = {
  heading: 'Install your eSIM',
  languages: 'Language',
  alreadyInstalled: 'This eSIM is already installed on a phone. Most eSIMs can be installed only once.',
  before: {
    heading: 'Before you start',
    steps: [
      'Connect the phone to Wi-Fi.',
      'Make sure that the phone supports eSIM and is not locked to another network.',
      'Install the eSIM only once, and do not delete it: most eSIMs cannot be installed again.',
    ],
  },
  oneTap: {
    heading: 'Install on this phone',
    ios: 'Install on iPhone',
    android: 'Install on Android',
    hint:
      'For iPhones with iOS 17.4 or later and for recent Android phones. If nothing opens, use the QR code or the ' +
      'codes below.',
  },
  scan: {
    heading: 'Scan the QR code',
    alt: 'QR code with the activation code of the eSIM',
    hint: 'Show this page on another screen or print it, and scan the code with the phone that will use the eSIM.',
  },
  manual: {
    heading: 'Enter the codes by hand',
    smdpAddress: 'SM-DP+ address',
    activationCode: 'Activation code',
    completeCode: 'Complete code, for Android',
    confirmation: 'The phone also asks for a confirmation code. You have it from the shop that sold the eSIM.',
  },
  ios: {
    heading: 'Steps on an iPhone',
    steps: [
      'Open Settings › Cellular (or Mobile Data) › Add eSIM.',
      'Choose “Use QR Code” and scan the code. To type the codes, choose “Enter Details Manually”.',
      'Choose “Continue” and wait until the eSIM is active.',
    ],
  },
  android: {
    heading: 'Steps on an Android phone',
    steps: [
      'Open Settings › Network & internet (or Connections) › SIMs › Add eSIM.',
      'Scan the code. To type it, choose “Enter it manually” and use the complete code.',
      'Confirm, and turn the eSIM on.',
    ],
  },
  afterwards: {
    heading: 'At your destination',
    steps: ['Turn the eSIM on and choose it for mobile data.', 'Turn data roaming on for this eSIM.'],
  },
  availableUntil: 'This page can be opened until',
  keepPrivate: 'Keep this page private: everyone who opens it can install the eSIM.',
  preview: { text: 'This page contains the codes of your eSIM.', open: 'Show my eSIM' },
  cancelled: {
    heading: 'This eSIM was cancelled',
    text: 'It can no longer be installed. If you have questions, ask the shop that sold it.',
  },
  expired: {
    heading: 'This eSIM has expired',
    text: 'Its validity is over, so it can no longer be installed. The shop that sold it can offer you a new one.',
  },
  gone: {
    heading: 'This page is not available',
    text: 'The link is not complete or no longer valid. Ask the shop that sent it for a new one.',
  },
  tooMany: {
    heading: 'Too many requests',
    text: 'This page was opened too often from your network. Wait a minute, then load it again.',
  },
  unavailable: {
    heading: 'This page cannot be shown right now',
    text: 'Your eSIM is not affected. Load the page again in a minute.',
  },
};
