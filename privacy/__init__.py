"""Pure mathematics of what may be released: numbers in, numbers out.

The package must never read a file, a clock, the environment or the network, and must never draw noise
from anywhere but `privacy.keystream`. Each mechanism carries its proof in its docstring, and
`tests/statistical/` tries to break the proof's conclusion; docs/explanation/privacy.md tells it to people.

Reading order
    what is promised and paid   loss, cost, mechanism, plan, run_outputs
    numbers and noise           grid, keystream, finite_law, geometric_digits, discrete_laplace,
                                discrete_gaussian, noise, joint_noise
    sample and aggregate        partition, epsilon_shares, clipped_mean, exponential, median,
                                sampling_interval, concentrated, sample_parameters, sample_aggregate;
                                block_rules for what to choose
    adding up                   accounting; tight_epsilon for information;
                                sampled_gaussian, loss_distribution, sampled_losses for steps
    the other promises          half_samples, posterior_bound, pac_state, pac; leave_one_out, stability
    without a container         trusted/, twin/
    on the holder's machine     perturbation/, over bounded_noise, gaussian_tail, gaussian_digits,
                                analytic_gaussian, fast_laplace
    training models             training/, over sampled_gaussian and gaussian_digits
    before anything is spent    preview/

`reference` is for tests, benchmarks, the laboratory and the reference laws that are marked UNSAFE.
"""
