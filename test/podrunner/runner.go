package podrunner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Options say what a [Runner] runs.
type Options struct {
	// Namespace is that of the Pods.
	Namespace string
	// Binary is the program that stands for every image.
	Binary string
	// Node is the name of the Node that the Pods are bound to; it is created.
	Node string
}

// Runner runs the Pods of a namespace.
type Runner struct {
	options Options
	config  *rest.Config
	client  kubernetes.Interface
	folder  string
	block   [2]int // the middle numbers of the Pods' addresses

	stop context.CancelFunc
	wg   sync.WaitGroup

	mu   sync.Mutex
	pods map[types.UID]*pod
	last int // the last number of the last address
}

// Start makes the Node and runs Pods until [Runner.Stop]; ctx bounds the start
// alone.
func Start(ctx context.Context, config *rest.Config, options Options) (*Runner, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	if err := makeNode(ctx, client, options.Node); err != nil {
		return nil, fmt.Errorf("making the Node: %w", err)
	}
	folder, err := makeFolder(options.Binary)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &Runner{
		options: options, config: config, client: client, folder: folder, stop: stop,
		block: [2]int{1 + rand.IntN(250), rand.IntN(250)},
		pods:  map[types.UID]*pod{}, last: 1,
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(options.Namespace))
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { r.see(running, o) },
		UpdateFunc: func(_, o any) { r.see(running, o) },
	}); err != nil {
		stop()
		return nil, err
	}
	factory.Start(running.Done())
	r.wg.Go(func() {
		<-running.Done()
		factory.Shutdown()
	})
	return r, nil
}

// Stop ends all processes, without grace, and removes their files.
func (r *Runner) Stop() error {
	r.stop()
	r.wg.Wait()
	return os.RemoveAll(r.folder)
}

func makeNode(ctx context.Context, client kubernetes.Interface, name string) error {
	_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	status := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"PodRunner","lastTransitionTime":%q}]}}`,
		time.Now().UTC().Format(time.RFC3339))
	_, err = client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status")
	return err
}

// program is the name of the program in the runner's folder.
const program = "program"

// makeFolder makes a folder that other users may look into, with a copy of the
// program that they may run.
func makeFolder(binary string) (string, error) {
	folder, err := os.MkdirTemp("", "edict-pods-")
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(binary)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, program), text, 0o755)
	}
	if err == nil {
		err = os.Chmod(folder, 0o755)
	}
	return folder, err
}

// see binds new Pods and returns each bound one a life, which ends when the Pod
// is deleted.
func (r *Runner) see(ctx context.Context, o any) {
	seen, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	if seen.Spec.NodeName == "" {
		if seen.DeletionTimestamp == nil {
			r.wg.Go(func() { r.bind(ctx, seen) })
		}
		return
	}
	if seen.Spec.NodeName != r.options.Node {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	life := r.pods[seen.UID]
	if life == nil {
		life = r.newPod(seen)
		r.pods[seen.UID] = life
		r.wg.Go(func() { life.live(ctx) })
	}
	if seen.DeletionTimestamp != nil {
		life.deleteOnce.Do(func() { close(life.deleted) })
	}
}

func (r *Runner) bind(ctx context.Context, p *corev1.Pod) {
	err := r.client.CoreV1().Pods(p.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, UID: p.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: r.options.Node},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(os.Stderr, "binding the Pod %s: %v\n", p.Name, err)
	}
}

// newPod gives a Pod its address and its folder.
func (r *Runner) newPod(p *corev1.Pod) *pod {
	r.last++
	return &pod{
		runner: r, object: p,
		address: fmt.Sprintf("127.%d.%d.%d", r.block[0], r.block[1], r.last),
		folder:  filepath.Join(r.folder, p.Name),
		deleted: make(chan struct{}),
	}
}

// Logs is what all Pods have printed, also those that are gone, each after a
// line with its name.
func (r *Runner) Logs() string {
	var out strings.Builder
	files, err := filepath.Glob(filepath.Join(r.folder, "*.log"))
	if err != nil {
		return err.Error()
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			text = []byte(err.Error())
		}
		fmt.Fprintf(&out, "==> %s\n%s\n", strings.TrimSuffix(filepath.Base(file), ".log"), text)
	}
	return out.String()
}
