import { chart, dashboard, number, p95, perSecond } from '#scripts/dashboards/panels.ts';

const BY_QUEUE = 'The 95th percentile by task queue; below 0.1 s is not told apart.';

export const workers = dashboard(
  'workers',
  'Temporal and processes',
  'Workers, task queues, the connection to Temporal, and memory and CPU of each process.',
  [
    number(
      'Processes down',
      'Processes that Prometheus cannot read. See ProcessDown in the runbook.',
      'short',
      'count(up{job=~"reseller-.*"} == 0) or vector(0)',
      1,
    ),
    number(
      'Temporal unreachable for',
      'Longest time in which a worker had no answer. Orders are accepted meanwhile. See TemporalUnreachable.',
      's',
      'max(reseller_temporal_unreachable_seconds)',
      15,
    ),
    number(
      'Tasks wait for a worker',
      'The 95th percentile of the schedule-to-start latency of activities. Add workers if it stays above a second.',
      's',
      p95('temporal_activity_schedule_to_start_latency_seconds', ''),
      5,
    ),
    number(
      'Fewest free slots',
      'Free slots of the fullest task queue of a worker. 0: tasks wait.',
      'short',
      'min(temporal_worker_task_slots_available)',
    ),
    number(
      'Failed reads of gauges',
      'Per hour. The gauges of the database then show old values. See GaugesStale in the runbook.',
      'short',
      'sum(increase(reseller_metrics_refresh_failures_total[1h]))',
      1,
    ),
    number('Workers', 'Workers that Prometheus reads.', 'short', 'count(up{job="reseller-worker"} == 1) or vector(0)'),
    chart('Schedule-to-start latency of activities', BY_QUEUE, 's', {
      '{{task_queue}}': p95('temporal_activity_schedule_to_start_latency_seconds', 'task_queue'),
    }),
    chart('Schedule-to-start latency of workflow tasks', BY_QUEUE, 's', {
      '{{task_queue}}': p95('temporal_workflow_task_schedule_to_start_latency_seconds', 'task_queue'),
    }),
    chart('Used slots', 'By task queue and type, of all workers.', 'short', {
      '{{task_queue}} {{worker_type}}': 'sum by (task_queue, worker_type) (temporal_worker_task_slots_used)',
    }),
    chart('Cached workflows', 'A miss replays a history.', 'short', {
      cached: 'sum(temporal_sticky_cache_size)',
      'misses per minute': 'sum(rate(temporal_sticky_cache_miss_total[$__rate_interval])) * 60',
    }),
    chart('Workflow tasks that failed', 'By workflow and reason. See WorkflowTasksFail in the runbook.', 'cps', {
      '{{workflow_type}} {{failure_reason}}': perSecond(
        'temporal_workflow_task_execution_failed_total',
        'workflow_type, failure_reason',
      ),
    }),
    chart('Calls to Temporal that failed', 'By operation and code.', 'cps', {
      '{{operation}} {{status_code}}': perSecond('temporal_request_failure_total', 'operation, status_code'),
    }),
    chart(
      'Time of calls to Temporal',
      'The 95th percentile by operation, without long polls. Below 0.05 s is not told apart.',
      's',
      { '{{operation}}': p95('temporal_request_latency_seconds', 'operation') },
    ),
    chart('CPU', 'Cores by process. One process of Node uses little more than one.', 'short', {
      '{{job}} {{instance}}': 'rate(process_cpu_seconds_total{job=~"reseller-.*"}[$__rate_interval])',
    }),
    chart('Memory', 'Resident memory by process. See MemoryHigh in the runbook.', 'bytes', {
      '{{job}} {{instance}}': 'process_resident_memory_bytes{job=~"reseller-.*"}',
    }),
    chart('Event loop', 'The 99th percentile of its delay. Above 0.1 s a process is overloaded.', 's', {
      '{{job}} {{instance}}': 'nodejs_eventloop_lag_p99_seconds{job=~"reseller-.*"}',
    }),
  ],
);
