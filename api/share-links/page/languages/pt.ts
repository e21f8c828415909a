import type { PageTexts } from '#api/share-links/page/page-texts.ts';

export const portuguese: PageTexts = {
  heading: 'Instale o seu eSIM',
  languages: 'Idioma',
  alreadyInstalled: 'Este eSIM já está instalado em um telefone. A maioria dos eSIMs só pode ser instalada uma vez.',
  before: {
    heading: 'Antes de começar',
    steps: [
      'Conecte o telefone a uma rede Wi-Fi.',
      'Verifique se o telefone aceita eSIM e não está bloqueado para outra operadora.',
      'Instale o eSIM uma única vez e não o apague: a maioria dos eSIMs não pode ser instalada de novo.',
    ],
  },
  oneTap: {
    heading: 'Instalar neste telefone',
    ios: 'Instalar no iPhone',
    android: 'Instalar no Android',
    hint:
      'Para iPhones com iOS 17.4 ou posterior e telefones Android recentes. Se nada abrir, use o código QR ou os ' +
      'códigos abaixo.',
  },
  scan: {
    heading: 'Escanear o código QR',
    alt: 'Código QR com o código de ativação do eSIM',
    hint: 'Mostre esta página em outra tela ou imprima-a e escaneie o código com o telefone que vai usar o eSIM.',
  },
  manual: {
    heading: 'Digitar os códigos',
    smdpAddress: 'Endereço SM-DP+',
    activationCode: 'Código de ativação',
    completeCode: 'Código completo, para Android',
    confirmation: 'O telefone também pede um código de confirmação. Você o recebeu da loja que vendeu o eSIM.',
  },
  ios: {
    heading: 'Passos no iPhone',
    steps: [
      'Abra Ajustes › Celular (ou Dados móveis) › Adicionar eSIM.',
      'Escolha “Usar código QR” e escaneie o código. Para digitar os códigos, escolha “Inserir detalhes manualmente”.',
      'Escolha “Continuar” e espere até o eSIM ficar ativo.',
    ],
  },
  android: {
    heading: 'Passos em um telefone Android',
    steps: [
      'Abra Configurações › Rede e Internet (ou Conexões) › SIMs › Adicionar eSIM.',
      'Escaneie o código. Para digitá-lo, escolha a entrada manual e use o código completo.',
      'Confirme e ative o eSIM.',
    ],
  },
  afterwards: {
    heading: 'No destino',
    steps: ['Ative o eSIM e escolha-o para os dados móveis.', 'Ative o roaming de dados para este eSIM.'],
  },
  availableUntil: 'Esta página pode ser aberta até',
  keepPrivate: 'Não compartilhe esta página: quem a abrir pode instalar o eSIM.',
  preview: { text: 'Esta página contém os códigos do seu eSIM.', open: 'Mostrar o meu eSIM' },
  cancelled: {
    heading: 'Este eSIM foi cancelado',
    text: 'Ele não pode mais ser instalado. Em caso de dúvida, fale com a loja que o vendeu.',
  },
  expired: {
    heading: 'Este eSIM expirou',
    text: 'A validade terminou e ele não pode mais ser instalado. A loja que o vendeu pode oferecer um novo.',
  },
  gone: {
    heading: 'Esta página não está disponível',
    text: 'O link está incompleto ou não é mais válido. Peça um novo à loja que o enviou.',
  },
  tooMany: {
    heading: 'Solicitações demais',
    text: 'Esta página foi aberta muitas vezes a partir da sua rede. Espere um minuto e recarregue-a.',
  },
  unavailable: {
    heading: 'Esta página não pode ser mostrada agora',
    text: 'O seu eSIM não foi afetado. Recarregue a página em um minuto.',
  },
};
