import type { PageTexts } from '#api/share-links/page/page-texts.ts';

export const french: PageTexts = {
  heading: 'Installez votre eSIM',
  languages: 'Langue',
  alreadyInstalled:
    'Cette eSIM est déjà installée sur un téléphone. La plupart des eSIM ne s’installent qu’une seule fois.',
  before: {
    heading: 'Avant de commencer',
    steps: [
      'Connectez le téléphone au Wi-Fi.',
      'Vérifiez que le téléphone est compatible eSIM et qu’il n’est pas verrouillé sur un autre opérateur.',
      'Installez l’eSIM une seule fois et ne la supprimez pas : la plupart des eSIM ne peuvent pas être réinstallées.',
    ],
  },
  oneTap: {
    heading: 'Installer sur ce téléphone',
    ios: 'Installer sur iPhone',
    android: 'Installer sur Android',
    hint:
      'Pour les iPhone sous iOS 17.4 ou ultérieur et les téléphones Android récents. Si rien ne s’ouvre, utilisez le ' +
      'code QR ou les codes ci-dessous.',
  },
  scan: {
    heading: 'Scanner le code QR',
    alt: 'Code QR contenant le code d’activation de l’eSIM',
    hint:
      'Affichez cette page sur un autre écran ou imprimez-la, puis scannez le code avec le téléphone qui utilisera ' +
      'l’eSIM.',
  },
  manual: {
    heading: 'Saisir les codes à la main',
    smdpAddress: 'Adresse SM-DP+',
    activationCode: 'Code d’activation',
    completeCode: 'Code complet, pour Android',
    confirmation:
      'Le téléphone demande aussi un code de confirmation. La boutique qui a vendu l’eSIM vous l’a transmis.',
  },
  ios: {
    heading: 'Étapes sur iPhone',
    steps: [
      'Ouvrez Réglages › Données cellulaires › Ajouter une eSIM.',
      'Choisissez « Utiliser un code QR » et scannez le code. Pour saisir les codes, choisissez « Saisir les détails ' +
        'manuellement ».',
      'Choisissez « Continuer » et attendez que l’eSIM soit active.',
    ],
  },
  android: {
    heading: 'Étapes sur un téléphone Android',
    steps: [
      'Ouvrez Paramètres › Réseau et Internet (ou Connexions) › Cartes SIM › Ajouter une eSIM.',
      'Scannez le code. Pour le saisir, choisissez la saisie manuelle et utilisez le code complet.',
      'Confirmez, puis activez l’eSIM.',
    ],
  },
  afterwards: {
    heading: 'À destination',
    steps: [
      'Activez l’eSIM et choisissez-la pour les données mobiles.',
      'Activez l’itinérance des données pour cette eSIM.',
    ],
  },
  availableUntil: 'Cette page peut être ouverte jusqu’au',
  keepPrivate: 'Ne partagez pas cette page : toute personne qui l’ouvre peut installer l’eSIM.',
  preview: { text: 'Cette page contient les codes de votre eSIM.', open: 'Afficher mon eSIM' },
  cancelled: {
    heading: 'Cette eSIM a été annulée',
    text: 'Elle ne peut plus être installée. Pour toute question, adressez-vous à la boutique qui l’a vendue.',
  },
  expired: {
    heading: 'Cette eSIM a expiré',
    text:
      'Sa validité est terminée, elle ne peut plus être installée. La boutique qui l’a vendue peut vous en proposer ' +
      'une nouvelle.',
  },
  gone: {
    heading: 'Cette page n’est pas disponible',
    text: 'Le lien est incomplet ou n’est plus valable. Demandez-en un nouveau à la boutique qui l’a envoyé.',
  },
  tooMany: {
    heading: 'Trop de demandes',
    text: 'Cette page a été ouverte trop souvent depuis votre réseau. Attendez une minute, puis rechargez-la.',
  },
  unavailable: {
    heading: 'Cette page ne peut pas être affichée pour le moment',
    text: 'Votre eSIM n’est pas concernée. Rechargez la page dans une minute.',
  },
};
